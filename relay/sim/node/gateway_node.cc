#include "relay/sim/node/gateway_node.h"

#include <algorithm>
#include <span>
#include <stdexcept>
#include <utility>

#include "pep/wire/udp.h"
#include "relay/gateway/addresses/common_knowledge.h"
#include "relay/gateway/flows/table/memory_plan.h"
#include "relay/gateway/frames/frame.h"
#include "relay/gateway/ids.h"
#include "relay/gateway/recovery/flow_journal.h"
#include "relay/gateway/steering/flow_hash.h"

namespace satrelay::sim {

using gateway::PortId;

namespace {

void add(const gateway::Counters& from, gateway::Counters& to) {
  for (const auto& field : gateway::Counters::kFields) to.add(field.member, from[field.member]);
}

}  // namespace

GatewayNode::GatewayNode(EventLoop& loop, FramePool& frames, Tracer& tracer, std::string name,
                         const config::Gateway& config, const MacAddress& wan_mac, Duration tick,
                         const MachineSpec& machine)
    : node_{.loop = loop,
            .frames = frames,
            .tracer = tracer,
            .name = std::move(name),
            .workers = config.worker.count,
            .spec = machine,
            .machine = machine.is_idle() ? std::nullopt : std::optional<Machine>(machine),
            .ports = NodePorts(frames),
            .work = {},
            .stuck_since = {}},
      config_(config),
      wan_mac_(wan_mac),
      tick_(tick),
      id_(loop.add(*this, node_.name)),
      divider_(workers_) {
  node_.ports.on_wan([this](FrameHandle frame) { measure(frame); });
  for (unsigned i = 0; i < node_.workers; ++i) workers_.emplace_back(node_);
  plan_memory();
}

GatewayNode::~GatewayNode() = default;

void GatewayNode::plan_memory() {
  for (unsigned i = 0; i < workers(); ++i) {
    const gateway::Share share{.worker = i, .workers = workers()};
    workers_[i].set_memory(gateway::plan_memory(config_, share).arena.value());
  }
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
    identity.share = {.worker = i, .workers = workers()};
    workers_[i].start(config_, identity, boot_epoch + i);
  }
  is_running_ = true;
  divider_.begin(config_, node_.loop.now());
  wake();
}

void GatewayNode::kill() {
  for (GatewayWorker& worker : workers_) {
    if (is_running_) add(worker.engine().counters(), earlier_counters_);
    worker.stop();
  }
  is_running_ = false;
}

void GatewayNode::shut_down() {
  if (!is_running_) return;
  for (GatewayWorker& worker : workers_) {
    worker.engine().shut_down(node_.loop.now());
    worker.send_all(node_.loop.now());
  }
  kill();
}

std::uint64_t GatewayNode::counted(gateway::Counter counter) const {
  const std::uint64_t earlier = earlier_counters_[counter];
  if (!is_running_) return earlier;
  return earlier +
         sum([&](const GatewayWorker& worker) { return worker.engine().counters()[counter]; });
}

std::uint64_t GatewayNode::missed(PortId port) const {
  return sum([&](const GatewayWorker& worker) { return worker.missed(port); });
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
  for (GatewayWorker& worker : workers_) worker.set_journal(on ? flows * kWords : 0);
}

void GatewayNode::receive(unsigned port, FrameHandle frame) {
  const auto id = static_cast<PortId>(port);
  if (!is_running_) {
    if (!fail_to_wire_) return node_.frames.release(frame);
    return node_.ports.pass(NodePorts::far(id), frame);
  }
  const gateway::Frame parsed = gateway::look_at(node_.frames.bytes(frame));
  const gateway::Route route =
      steering_->route(id, parsed, node_.frames.bytes(frame), node_.loop.now());
  if (id == PortId::kWan) note_queue(parsed, route.worker);
  while (const auto released = steering_->take_released()) {
    const FrameHandle copy = node_.frames.acquire();
    std::ranges::copy(released->frame, node_.frames.room(copy).begin());
    node_.frames.set_size(copy, released->frame.size());
    workers_[released->worker].hand_over(id, copy);
  }
  if (route.all) overhear(route.worker, id, frame);
  if (route.kept) {
    node_.frames.release(frame);
  } else {
    workers_[route.worker].hand_over(id, frame);
  }
  node_.loop.wake(id_);
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
    if (i != but) workers_[i].engine().overhear(port, node_.frames.bytes(frame), node_.loop.now());
  }
}

// Adds the frame to the meter, with the overhead that the modem adds. If there are several links,
// the node does not know which link carries the frame, so it compares with the sum of all links'
// limits.
void GatewayNode::measure(FrameHandle frame) {
  constexpr std::size_t kMostTags = wire::kMaxEthernetHeaderSize - wire::kEthernetHeaderSize;
  const ConstBytes bytes = node_.frames.bytes(frame);
  const gateway::Frame seen = gateway::look_at(bytes);
  std::uint64_t rate = 0, packets = 0, overhead = 0, trains = 0;
  for (const auto link : id_range(gateway::LinkId(), gateway::LinkId(config_.links.size()))) {
    BitRate highest;
    for (const GatewayWorker& worker : workers_) {
      highest = std::max(highest, worker.engine().rates().link_rate(link));
      trains += worker.engine().rates().link_train(link).value();
    }
    rate += highest.to_bits_per_second();
    overhead = std::max<std::uint64_t>(overhead, config_.links[link.index()].overhead);
    packets += std::uint64_t{2} * workers();
  }
  const std::uint64_t longest = config_.wan.mtu + kMostTags + overhead;
  const LinkMeter::Limit limit{BitRate::bits_per_second(rate),
                               ByteCount(packets * longest + trains)};
  meter_.add(bytes.size() - wire::kEthernetHeaderSize + overhead,
             {.kind = seen.kind, .is_own = seen.ethernet.source == wan_mac_}, limit,
             node_.loop.now());
}

void GatewayNode::run(Instant now) {
  if (!is_running_) return;
  divider_.run(now);
  if (node_.machine) return round(now);
  for (GatewayWorker& worker : workers_) worker.run(now);
}

// Runs a round of each worker as satrelayd does. All workers share one simulated machine.
void GatewayNode::round(Instant now) {
  const auto run_each = [&](auto call) {
    for (GatewayWorker& worker : workers_) {
      if (!worker.is_starved(now)) call(worker);
    }
  };
  if (!node_.machine->is_free(now)) {
    if (node_.machine->away_since(now) != now) return;
    return run_each([&](GatewayWorker& worker) { worker.stop_between_writing_and_sending(now); });
  }
  std::size_t frames = 0;
  run_each([&](GatewayWorker& worker) { frames += worker.round(now); });
  node_.machine->spend(frames, now);
}

void GatewayNode::starve(unsigned worker, Instant until) {
  workers_[worker].starve(until);
  wake();
}

Instant GatewayNode::next_timeout() const {
  if (!is_running_) return Instant::never();
  Instant next = Instant::never();
  for (const GatewayWorker& worker : workers_) next = earlier(next, worker.next_timeout());
  next = earlier(next, divider_.next_timeout());
  if (node_.machine) {
    const Instant now = node_.loop.now();
    const bool waits = std::ranges::any_of(workers_, [now](const GatewayWorker& worker) {
      return !worker.is_starved(now) && worker.has_work();
    });
    if (waits) next = now;
    next = next.is_never() ? next : node_.machine->free_at(later(next, now));
    return earlier(next, node_.machine->next_absence(now));
  }
  if (next.is_never() || tick_ == Duration::zero() || next <= node_.loop.now()) return next;
  const std::int64_t tick = tick_.to_nanoseconds();
  return Instant::from_nanoseconds((next.to_nanoseconds() + tick - 1) / tick * tick);
}

std::vector<gateway::PeerSnapshot> GatewayNode::peers() {
  std::vector<gateway::PeerSnapshot> all;
  for (const GatewayWorker& worker : workers_)
    std::ranges::copy(worker.engine().peers(), std::back_inserter(all));
  return all;
}

std::vector<gateway::FlowSnapshot> GatewayNode::flows(Instant now) {
  std::vector<gateway::FlowSnapshot> all;
  for (const GatewayWorker& worker : workers_) {
    std::ranges::copy(worker.engine().flows(0, worker.engine().flow_count(), now),
                      std::back_inserter(all));
  }
  return all;
}

std::size_t GatewayNode::flow_count() const {
  return sum([](const GatewayWorker& worker) { return worker.engine().flow_count(); });
}

std::size_t GatewayNode::held_frames() const {
  return sum([](const GatewayWorker& worker) { return worker.engine().held_frames(); });
}

std::uint64_t GatewayNode::half_open(Instant now) const {
  return sum([&](const GatewayWorker& worker) { return worker.engine().status(now).half_open; });
}

std::uint64_t GatewayNode::arena_used(Instant now) const {
  return sum([&](const GatewayWorker& worker) { return worker.engine().status(now).arena_used; });
}

std::optional<std::string> GatewayNode::audit() {
  for (const GatewayWorker& worker : workers_) {
    if (auto wrong = worker.engine().audit()) return wrong;
  }
  return std::nullopt;
}

}  // namespace satrelay::sim
