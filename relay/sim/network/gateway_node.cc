#include "relay/sim/network/gateway_node.h"

#include <algorithm>
#include <array>
#include <span>
#include <stdexcept>
#include <utility>

#include "pep/wire/udp.h"
#include "relay/gateway/addresses/common_knowledge.h"
#include "relay/gateway/flows/table/memory_plan.h"
#include "relay/gateway/frames/frame.h"
#include "relay/gateway/recovery/flow_journal.h"
#include "relay/gateway/steering/flow_hash.h"

namespace satrelay::sim {

using gateway::PortId;
using gateway::Verdict;

namespace {

void add(const gateway::Counters& from, gateway::Counters& to) {
  for (const auto& field : gateway::Counters::kFields) to.add(field.member, from[field.member]);
}

}  // namespace

GatewayNode::GatewayNode(EventLoop& loop, FramePool& frames, Tracer& tracer, std::string name,
                         const config::Gateway& config, const MacAddress& wan_mac, Duration tick,
                         const MachineSpec& machine)
    : loop_(&loop),
      frames_(&frames),
      tracer_(&tracer),
      name_(std::move(name)),
      config_(config),
      wan_mac_(wan_mac),
      tick_(tick),
      id_(loop.add(*this, name_)),
      workers_(config.worker.count),
      ring_size_(machine.ring),
      verbs_(machine.verbs),
      insight_(machine.insight) {
  if (!machine.is_idle()) machine_.emplace(machine);
  plan_memory();
}

GatewayNode::~GatewayNode() = default;

void GatewayNode::plan_memory() {
  for (unsigned i = 0; i < workers(); ++i) {
    const gateway::Share share{.worker = i, .workers = workers()};
    const std::size_t size = gateway::plan_memory(config_, share).arena.value();
    workers_[i].memory.emplace(size, BigMemory::pages_for(size));
  }
}

void GatewayNode::drop_held(Worker& worker) {
  for (const auto& [slot, frame] : worker.held) frames_->release(frame);
  worker.held.clear();
  for (const FrameHandle frame : worker.stuck) frames_->release(frame);
  worker.stuck.clear();
  for (Ring& ring : worker.rings) {
    while (!ring.empty()) frames_->release(ring.pop());
  }
}

std::uint64_t GatewayNode::counted(gateway::Counter counter) const {
  std::uint64_t sum = earlier_counters_[counter];
  for (const Worker& worker : workers_) {
    if (is_running_) sum += worker.engine->counters()[counter];
  }
  return sum;
}

std::uint64_t GatewayNode::missed(PortId port) const {
  std::uint64_t sum = 0;
  for (const Worker& worker : workers_) {
    sum += worker.rings[static_cast<std::size_t>(port)].missed();
  }
  return sum;
}

void GatewayNode::connect(PortId port, FrameSink& sink, unsigned sink_port) {
  sinks_[static_cast<std::size_t>(port)] = &sink;
  sink_ports_[static_cast<std::size_t>(port)] = sink_port;
}

void GatewayNode::start(std::uint64_t boot_epoch) {
  kill();
  gateway::Identity identity;
  identity.boot_epoch = boot_epoch;
  identity.secret[0] = boot_epoch * 0x9E3779B97F4A7C15U;
  identity.secret[1] = ~boot_epoch;
  identity.wan_mac = wan_mac_;
  const gateway::HashKey secret{identity.secret[0], identity.secret[1]};
  identity.common = std::make_shared<gateway::CommonKnowledge>(secret, config_.peers.size());
  steering_.emplace(
      config_, secret,
      std::shared_ptr<const gateway::AwaitedAnswers>(identity.common, &identity.common->awaited));
  for (unsigned i = 0; i < workers(); ++i) {
    Worker& worker = workers_[i];
    worker.entropy = SeededEntropy(boot_epoch + i);
    identity.entropy = &worker.entropy;
    identity.share = {.worker = i, .workers = workers()};
    worker.engine =
        std::make_unique<gateway::Gateway>(config_, identity, worker.memory->bytes(), loop_->now(),
                                           std::as_writable_bytes(std::span(worker.journal)));
    if (worker.engine->max_frame_size() > frames_->frame_size()) {
      throw std::invalid_argument("frames of the gateway do not fit the simulation's pool");
    }
  }
  is_running_ = true;
  begin_sharing();
  loop_->wake(id_);
}

void GatewayNode::begin_sharing() {
  division_.reset();
  ticks_ = false;
  std::vector<std::size_t> lanes;
  for (const config::Peer& peer : config_.peers) {
    lanes.push_back(gateway::lanes_of_worker(peer, workers()));
  }
  // A single worker shares nothing, unless it has several lanes to a peer.
  if (workers() == 1 && std::ranges::all_of(lanes, [](std::size_t n) { return n == 1; })) return;
  division_.emplace(workers(), config_.links.size(), lanes, loop_->now() - gateway::kShareTick);
  share_links(loop_->now());
}

void GatewayNode::share_links(Instant now) {
  // A starved worker neither states new demands nor takes shares. Its last demands stand.
  const auto runs = [now](const Worker& worker) { return now >= worker.starved_until; };
  for (unsigned i = 0; i < workers(); ++i) {
    if (runs(workers_[i])) workers_[i].engine->write_demands(division_->demands(i), now);
  }
  if (runs(workers_.front())) division_->divide(now);
  for (unsigned i = 0; i < workers(); ++i) {
    if (runs(workers_[i])) workers_[i].engine->take_shares(division_->shares(i), now);
  }
  next_share_ = now + gateway::kShareTick;
  ticks_ = !division_->is_at_rest();
}

void GatewayNode::kill() {
  for (Worker& worker : workers_) {
    if (is_running_) add(worker.engine->counters(), earlier_counters_);
    worker.engine.reset();
    drop_held(worker);
  }
  is_running_ = false;
}

void GatewayNode::shut_down() {
  if (!is_running_) return;
  for (Worker& worker : workers_) {
    worker.engine->shut_down(loop_->now());
    poll(worker, PortId::kLan, loop_->now());
    poll(worker, PortId::kWan, loop_->now());
  }
  kill();
}

void GatewayNode::set_memory(ByteCount memory) {
  if (is_running_) throw std::logic_error("the arena is in use");
  config_.limits.memory = memory;
  plan_memory();
}

void GatewayNode::keep_journal(bool on) {
  if (is_running_) throw std::logic_error("the journal is in use");
  constexpr std::size_t kWords = gateway::FlowJournal::kRecordSize / sizeof(std::uint64_t);
  const std::size_t flows = gateway::part_of(config_.limits.flows, workers());
  for (Worker& worker : workers_) worker.journal.assign(on ? flows * kWords : 0, 0);
}

template <typename Call>
auto GatewayNode::watched(Worker& worker, std::size_t frames, Call call) {
  const std::uint64_t before = worker.engine->visited();
  const Work worked_before = worker.engine->worked();
  if (probe_ != nullptr) probe_->enter();
  const auto result = call();
  if (probe_ != nullptr) probe_->leave();
  const std::uint64_t visited = worker.engine->visited() - before;
  most_visited_ = std::max(most_visited_, (visited + frames - 1) / frames);
  most_worked_ = std::max(most_worked_, worker.engine->worked() - worked_before);
  return result;
}

void GatewayNode::receive(unsigned port, FrameHandle frame) {
  const std::size_t far = port == 0 ? 1 : 0;
  if (!is_running_) {
    if (fail_to_wire_ && sinks_[far] != nullptr) {
      sinks_[far]->receive(sink_ports_[far], frame);
    } else {
      frames_->release(frame);
    }
    return;
  }
  const auto id = static_cast<PortId>(port);
  const gateway::Frame parsed = gateway::look_at(frames_->bytes(frame));
  const gateway::Route route = steering_->route(id, parsed, frames_->bytes(frame), loop_->now());
  if (id == PortId::kWan) note_queue(parsed, route.worker);
  while (const auto released = steering_->take_released()) {
    const FrameHandle copy = frames_->acquire();
    std::ranges::copy(released->frame, frames_->room(copy).begin());
    frames_->set_size(copy, released->frame.size());
    hand_over(workers_[released->worker], id, copy);
  }
  if (route.all) overhear(route.worker, id, frame);
  if (route.kept) {
    frames_->release(frame);
  } else {
    hand_over(workers_[route.worker], id, frame);
  }
  loop_->wake(id_);
}

void GatewayNode::note_queue(const gateway::Frame& frame, unsigned worker) {
  if (frame.kind != gateway::FrameKind::kUdp || frame.ip.destination != config_.gateway.own) return;
  const auto udp = wire::parse_udp(frame.payload);
  if (!udp) return;
  const std::uint32_t hash = gateway::flow_hash(frame.ip.source, frame.ip.destination,
                                                udp->source_port, udp->destination_port);
  if ((hash & (workers() - 1)) != worker) ++stp_handed_over_;
}

void GatewayNode::overhear(unsigned but, PortId port, FrameHandle frame) {
  for (unsigned i = 0; i < workers(); ++i) {
    if (i != but) workers_[i].engine->overhear(port, frames_->bytes(frame), loop_->now());
  }
}

void GatewayNode::hand_over(Worker& worker, PortId port, FrameHandle frame) {
  const Instant now = loop_->now();
  Ring& ring = worker.rings[static_cast<std::size_t>(port)];
  const bool runs = now >= worker.starved_until;
  if (runs && ring.empty() && (!machine_ || machine_->is_free(now))) {
    ring.set_empty_at(now);
    take(worker, port, {&frame, 1});
    if (machine_) machine_->spend(1, now);
    return;
  }
  if (!ring.push(frame, ring_size_, machine_ ? machine_->away_since(now) : now)) {
    tracer_->frame(now, name_, "miss", frames_->bytes(frame));
    frames_->release(frame);
  }
}

void GatewayNode::take(Worker& worker, PortId port, std::span<const FrameHandle> frames) {
  if (machine_ && port == PortId::kWan) worker.engine->set_wan_reception(reception(worker));
  std::array<gateway::Gateway::Arrived, kBurst> arrived;
  std::array<gateway::Gateway::Handled, kBurst> handled;
  std::array<gateway::Frame, kBurst> looks;  // parsed already, as steering does it
  for (std::size_t i = 0; i < frames.size(); ++i) {
    arrived[i] = {.bytes = frames_->bytes(frames[i])};
    if (workers() == 1) continue;
    looks[i] = gateway::look_at(arrived[i].bytes);
    arrived[i].seen = &looks[i];
  }
  const std::size_t at_once = verbs_ == Verbs::kBursts ? frames.size() : 1;
  for (std::size_t i = 0; i < frames.size(); i += at_once) {
    watched(worker, at_once, [&] {
      worker.engine->handle_frames(port, std::span(arrived).subspan(i, at_once),
                                   std::span(handled).subspan(i, at_once), loop_->now());
      return true;
    });
  }
  for (std::size_t i = 0; i < frames.size(); ++i) dispose(worker, port, frames[i], handled[i]);
}

void GatewayNode::dispose(Worker& worker, PortId port, FrameHandle frame,
                          const gateway::Gateway::Handled& handled) {
  const std::size_t far = port == PortId::kLan ? 1 : 0;
  if (handled.verdict == Verdict::kBridge && sinks_[far] != nullptr) {
    tracer_->frame(loop_->now(), name_, "bridge", frames_->bytes(frame));
    send(port == PortId::kLan ? PortId::kWan : PortId::kLan, frame);
    return;
  }
  if (handled.verdict == Verdict::kQueued) {
    if (!worker.held.emplace(handled.slot, frame).second) {
      throw std::logic_error("two frames are held in one slot");
    }
    return;
  }
  if (handled.verdict == Verdict::kDrop) {
    tracer_->frame(loop_->now(), name_, "drop", frames_->bytes(frame));
  }
  frames_->release(frame);
}

stp::Reception GatewayNode::reception(const Worker& worker) {
  const Ring& ring = worker.rings[static_cast<std::size_t>(PortId::kWan)];
  const Duration waited = loop_->now() - ring.empty_at();
  switch (insight_) {
    case Insight::kAll:
      return {.waited = waited, .missed = ring.missed()};
    case Insight::kMissed:
      return {.waited = Duration::zero(), .missed = ring.missed()};
    case Insight::kNothing:
      break;
    case Insight::kFeigned:
      return {.waited = Duration::seconds(10), .missed = feigned_ += 1'000};
  }
  return {};
}

GatewayNode::Burst GatewayNode::poll_burst(Worker& worker, PortId port,
                                           std::span<FrameHandle> frames, Instant now) {
  std::array<MutableBytes, kBurst> rooms;
  std::array<gateway::Polled, kBurst> polled;
  for (std::size_t i = 0; i < frames.size(); ++i) {
    frames[i] = frames_->acquire();
    rooms[i] = frames_->room(frames[i]);
  }
  const std::size_t at_once = verbs_ == Verbs::kBursts ? frames.size() : 1;
  std::size_t count = 0;
  std::size_t got = at_once;
  while (got == at_once && count < frames.size()) {
    got = watched(worker, at_once, [&] {
      return worker.engine->poll_frames(port, std::span(rooms).subspan(count, at_once),
                                        std::span(polled).subspan(count, at_once), now);
    });
    count += got;
  }
  Burst burst{.is_full = count == frames.size()};
  for (std::size_t i = 0; i < frames.size(); ++i) {
    if (i < count && polled[i].kind == gateway::Polled::Kind::kWritten) {
      frames_->set_size(frames[i], polled[i].size);
      frames[burst.count++] = frames[i];
      continue;
    }
    frames_->release(frames[i]);
    if (i >= count) continue;
    const FrameHandle kept = worker.held.at(polled[i].slot);
    worker.held.erase(polled[i].slot);
    const bool leaves = polled[i].kind == gateway::Polled::Kind::kHeld;
    tracer_->frame(loop_->now(), name_, leaves ? "bridge" : "drop", frames_->bytes(kept));
    if (leaves) {
      frames[burst.count++] = kept;
    } else {
      frames_->release(kept);
    }
  }
  return burst;
}

void GatewayNode::send(PortId port, FrameHandle frame) {
  const auto index = static_cast<std::size_t>(port);
  if (sinks_[index] == nullptr) {
    frames_->release(frame);
  } else {
    if (port == PortId::kWan) measure(frame);
    sinks_[index]->receive(sink_ports_[index], frame);
  }
}

// Counts the frame as the modem does. If there are several links, the node does not know which one
// the frame takes, so it adds up their limits.
void GatewayNode::measure(FrameHandle frame) {
  constexpr std::size_t kMostTags = wire::kMaxEthernetHeaderSize - wire::kEthernetHeaderSize;
  const ConstBytes bytes = frames_->bytes(frame);
  const gateway::Frame seen = gateway::look_at(bytes);
  std::uint64_t rate = 0, packets = 0, overhead = 0, trains = 0;
  for (std::size_t link = 0; link < config_.links.size(); ++link) {
    BitRate highest;
    for (const Worker& worker : workers_) {
      highest = std::max(highest, worker.engine->link_rate(link));
      trains += worker.engine->link_train(link).value();
    }
    rate += highest.to_bits_per_second();
    overhead = std::max<std::uint64_t>(overhead, config_.links[link].overhead);
    packets += std::uint64_t{2} * workers();
  }
  const std::uint64_t longest = config_.wan.mtu + kMostTags + overhead;
  const LinkMeter::Limit limit{BitRate::bits_per_second(rate),
                               ByteCount(packets * longest + trains)};
  meter_.add(bytes.size() - wire::kEthernetHeaderSize + overhead,
             {.kind = seen.kind, .is_own = seen.ethernet.source == wan_mac_}, limit, loop_->now());
}

std::size_t GatewayNode::poll(Worker& worker, PortId port, Instant now, std::size_t most) {
  std::array<FrameHandle, kBurst> frames;
  std::size_t sent = 0;
  while (sent < most) {
    const std::size_t asked = std::min(most - sent, kBurst);
    const Burst burst = poll_burst(worker, port, std::span(frames).first(asked), now);
    for (std::size_t i = 0; i < burst.count; ++i) send(port, frames[i]);
    sent += burst.count;
    if (!burst.is_full) break;
  }
  return sent;
}

void GatewayNode::run(Instant now) {
  if (!is_running_) return;
  if (division_ && now >= next_share_) share_links(now);
  if (machine_) return round(now);
  for (Worker& worker : workers_) {
    if (is_starved(worker, now)) continue;
    watched(worker, 1, [&] {
      worker.engine->handle_timeout(now);
      return true;
    });
    poll(worker, PortId::kLan, now);
    poll(worker, PortId::kWan, now);
  }
}

// Does what satrelayd's workers do, but all on one machine.
void GatewayNode::round(Instant now) {
  if (!machine_->is_free(now)) {
    if (machine_->away_since(now) != now) return;
    for (Worker& worker : workers_) {
      if (now >= worker.starved_until) stop_between_writing_and_sending(worker, now);
    }
    return;
  }
  constexpr std::size_t kMostSent = 4 * kBurst;
  std::size_t frames = 0;
  for (Worker& worker : workers_) {
    if (now < worker.starved_until) continue;
    for (const FrameHandle frame : worker.stuck) send(PortId::kWan, frame);
    if (!worker.stuck.empty() && insight_ == Insight::kAll) {
      worker.engine->note_late_sending(stuck_since_, now);
    }
    worker.stuck.clear();
    frames += empty(worker, PortId::kLan) + empty(worker, PortId::kWan);
    watched(worker, 1, [&] {
      worker.engine->handle_timeout(now);
      return true;
    });
    frames += poll(worker, PortId::kLan, now, kMostSent);
    frames += poll(worker, PortId::kWan, now, kMostSent);
  }
  machine_->spend(frames, now);
}

// Takes a burst at most from the ring. The rest waits for the next call.
std::size_t GatewayNode::empty(Worker& worker, PortId port) {
  Ring& ring = worker.rings[static_cast<std::size_t>(port)];
  std::array<FrameHandle, kBurst> frames;
  std::size_t taken = 0;
  for (; taken < kBurst && !ring.empty(); ++taken) frames[taken] = ring.pop();
  if (taken > 0) take(worker, port, std::span(frames).first(taken));
  if (ring.empty()) ring.set_empty_at(loop_->now());
  return taken;
}

// A pause does most harm here: the engine believes that these frames have left.
void GatewayNode::stop_between_writing_and_sending(Worker& worker, Instant now) {
  stuck_since_ = now;
  if (worker.stuck.size() >= kBurst) return;
  std::array<FrameHandle, kBurst> frames;
  const std::size_t room = kBurst - worker.stuck.size();
  const std::size_t count =
      poll_burst(worker, PortId::kWan, std::span(frames).first(room), now).count;
  worker.stuck.insert(worker.stuck.end(), frames.begin(),
                      frames.begin() + static_cast<std::ptrdiff_t>(count));
}

void GatewayNode::starve(unsigned worker, Instant until) {
  workers_[worker].starved_until = until;
  wake();
}

bool GatewayNode::is_starved(Worker& worker, Instant now) {
  if (now < worker.starved_until) return true;
  while (empty(worker, PortId::kLan) + empty(worker, PortId::kWan) > 0) {
  }
  return false;
}

Instant GatewayNode::next_timeout() const {
  if (!is_running_) return Instant::never();
  Instant next = Instant::never();
  for (const Worker& worker : workers_) {
    const bool waits = !worker.rings[0].empty() || !worker.rings[1].empty();
    const Instant due = waits && !machine_ ? loop_->now() : worker.engine->next_timeout();
    next = earlier(next, later(due, worker.starved_until));
  }
  if (ticks_) next = earlier(next, next_share_);
  if (machine_) {
    const Instant now = loop_->now();
    const bool waits = std::ranges::any_of(workers_, [now](const Worker& w) {
      return now >= w.starved_until &&
             (!w.rings[0].empty() || !w.rings[1].empty() || !w.stuck.empty());
    });
    if (waits) next = now;
    next = next.is_never() ? next : machine_->free_at(later(next, now));
    return earlier(next, machine_->next_absence(now));
  }
  if (next.is_never() || tick_ == Duration::zero() || next <= loop_->now()) return next;
  const std::int64_t tick = tick_.to_nanoseconds();
  return Instant::from_nanoseconds((next.to_nanoseconds() + tick - 1) / tick * tick);
}

std::vector<gateway::PeerSnapshot> GatewayNode::peers() {
  std::vector<gateway::PeerSnapshot> all;
  for (const Worker& worker : workers_)
    std::ranges::copy(worker.engine->peers(), std::back_inserter(all));
  return all;
}

std::vector<gateway::FlowSnapshot> GatewayNode::flows(Instant now) {
  std::vector<gateway::FlowSnapshot> all;
  for (const Worker& worker : workers_) {
    std::ranges::copy(worker.engine->flows(0, worker.engine->flow_count(), now),
                      std::back_inserter(all));
  }
  return all;
}

std::size_t GatewayNode::flow_count() {
  std::size_t sum = 0;
  for (const Worker& worker : workers_) sum += worker.engine->flow_count();
  return sum;
}

std::size_t GatewayNode::held_frames() {
  std::size_t sum = 0;
  for (const Worker& worker : workers_) sum += worker.engine->held_frames();
  return sum;
}

std::uint64_t GatewayNode::half_open(Instant now) {
  std::uint64_t sum = 0;
  for (const Worker& worker : workers_) sum += worker.engine->status(now).half_open;
  return sum;
}

std::uint64_t GatewayNode::arena_used(Instant now) {
  std::uint64_t sum = 0;
  for (const Worker& worker : workers_) sum += worker.engine->status(now).arena_used;
  return sum;
}

std::optional<std::string> GatewayNode::audit() {
  for (const Worker& worker : workers_) {
    if (auto wrong = worker.engine->audit()) return wrong;
  }
  return std::nullopt;
}

}  // namespace satrelay::sim
