#include "relay/sim/gateway_node.h"

#include <algorithm>
#include <array>
#include <span>
#include <stdexcept>
#include <utility>

#include "relay/gateway/flows/memory_plan.h"
#include "relay/gateway/recovery/flow_journal.h"

namespace satrelay::sim {

using gateway::PortId;
using gateway::Verdict;

namespace {

BigMemory memory_for(const config::Gateway& config) {
  const std::size_t size = gateway::plan_memory(config).arena.value();
  return BigMemory(size, BigMemory::pages_for(size));
}

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
      memory_(memory_for(config)),
      ring_size_(machine.ring),
      verbs_(machine.verbs),
      insight_(machine.insight) {
  if (!machine.is_idle()) machine_.emplace(machine);
}

GatewayNode::~GatewayNode() = default;

void GatewayNode::drop_held() {
  for (const auto& [slot, frame] : held_) frames_->release(frame);
  held_.clear();
  for (const FrameHandle frame : stuck_) frames_->release(frame);
  stuck_.clear();
  for (Ring& ring : rings_) {
    while (!ring.empty()) frames_->release(ring.pop());
  }
}

std::uint64_t GatewayNode::counted(gateway::Counter counter) const {
  return earlier_counters_[counter] + (engine_ == nullptr ? 0 : engine_->counters()[counter]);
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
  entropy_ = SeededEntropy(boot_epoch);
  identity.entropy = &entropy_;
  engine_ = std::make_unique<gateway::Gateway>(config_, identity, memory_->bytes(), loop_->now(),
                                               std::as_writable_bytes(std::span(journal_)));
  if (engine_->max_frame_size() > frames_->frame_size()) {
    throw std::invalid_argument("frames of the gateway do not fit the simulation's pool");
  }
  loop_->wake(id_);
}

void GatewayNode::kill() {
  if (engine_ != nullptr) add(engine_->counters(), earlier_counters_);
  engine_.reset();
  drop_held();
}

void GatewayNode::shut_down() {
  if (engine_ == nullptr) return;
  engine_->shut_down(loop_->now());
  poll(PortId::kLan, loop_->now());
  poll(PortId::kWan, loop_->now());
  kill();
}

void GatewayNode::set_memory(ByteCount memory) {
  if (engine_ != nullptr) throw std::logic_error("the arena is in use");
  config_.limits.memory = memory;
  memory_.emplace(memory_for(config_));
}

void GatewayNode::keep_journal(bool on) {
  if (engine_ != nullptr) throw std::logic_error("the journal is in use");
  constexpr std::size_t kWords = gateway::FlowJournal::kRecordSize / sizeof(std::uint64_t);
  journal_.assign(on ? config_.limits.flows * kWords : 0, 0);
}

template <typename Call>
auto GatewayNode::watched(std::size_t frames, Call call) {
  const std::uint64_t before = engine_->visited();
  if (probe_ != nullptr) probe_->enter();
  const auto result = call();
  if (probe_ != nullptr) probe_->leave();
  const std::uint64_t visited = engine_->visited() - before;
  most_visited_ = std::max(most_visited_, (visited + frames - 1) / frames);
  return result;
}

void GatewayNode::receive(unsigned port, FrameHandle frame) {
  const std::size_t far = port == 0 ? 1 : 0;
  if (engine_ == nullptr) {
    if (fail_to_wire_ && sinks_[far] != nullptr) {
      sinks_[far]->receive(sink_ports_[far], frame);
    } else {
      frames_->release(frame);
    }
    return;
  }
  const Instant now = loop_->now();
  Ring& ring = rings_[port];
  if (!machine_ || (ring.empty() && machine_->is_free(now))) {
    ring.set_empty_at(now);
    take(static_cast<PortId>(port), {&frame, 1});
    if (machine_) machine_->spend(1, now);
    loop_->wake(id_);
    return;
  }
  if (!ring.push(frame, ring_size_, machine_->away_since(now))) {
    tracer_->frame(now, name_, "miss", frames_->bytes(frame));
    frames_->release(frame);
  }
  loop_->wake(id_);
}

void GatewayNode::take(PortId port, std::span<const FrameHandle> frames) {
  if (machine_ && port == PortId::kWan) engine_->set_wan_reception(reception());
  std::array<gateway::Gateway::Arrived, kBurst> arrived;
  std::array<gateway::Gateway::Handled, kBurst> handled;
  for (std::size_t i = 0; i < frames.size(); ++i) arrived[i] = {.bytes = frames_->bytes(frames[i])};
  const std::size_t at_once = verbs_ == Verbs::kBursts ? frames.size() : 1;
  for (std::size_t i = 0; i < frames.size(); i += at_once) {
    watched(at_once, [&] {
      engine_->handle_frames(port, std::span(arrived).subspan(i, at_once),
                             std::span(handled).subspan(i, at_once), loop_->now());
      return true;
    });
  }
  for (std::size_t i = 0; i < frames.size(); ++i) dispose(port, frames[i], handled[i]);
}

void GatewayNode::dispose(PortId port, FrameHandle frame,
                          const gateway::Gateway::Handled& handled) {
  const std::size_t far = port == PortId::kLan ? 1 : 0;
  if (handled.verdict == Verdict::kBridge && sinks_[far] != nullptr) {
    tracer_->frame(loop_->now(), name_, "bridge", frames_->bytes(frame));
    sinks_[far]->receive(sink_ports_[far], frame);
    return;
  }
  if (handled.verdict == Verdict::kQueued) {
    if (!held_.emplace(handled.slot, frame).second) {
      throw std::logic_error("two frames are held in one slot");
    }
    return;
  }
  if (handled.verdict == Verdict::kDrop) {
    tracer_->frame(loop_->now(), name_, "drop", frames_->bytes(frame));
  }
  frames_->release(frame);
}

stp::Reception GatewayNode::reception() {
  const Ring& ring = rings_[static_cast<std::size_t>(PortId::kWan)];
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

std::size_t GatewayNode::poll_burst(PortId port, std::span<FrameHandle> frames, Instant now) {
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
    got = watched(at_once, [&] {
      return engine_->poll_frames(port, std::span(rooms).subspan(count, at_once),
                                  std::span(polled).subspan(count, at_once), now);
    });
    count += got;
  }
  for (std::size_t i = 0; i < frames.size(); ++i) {
    if (i < count && polled[i].kind == gateway::Polled::Kind::kWritten) {
      frames_->set_size(frames[i], polled[i].size);
      continue;
    }
    frames_->release(frames[i]);
    if (i >= count) continue;
    frames[i] = held_.at(polled[i].slot);
    held_.erase(polled[i].slot);
    tracer_->frame(loop_->now(), name_, "bridge", frames_->bytes(frames[i]));
  }
  return count;
}

void GatewayNode::send(PortId port, FrameHandle frame) {
  const auto index = static_cast<std::size_t>(port);
  if (sinks_[index] == nullptr) {
    frames_->release(frame);
  } else {
    sinks_[index]->receive(sink_ports_[index], frame);
  }
}

std::size_t GatewayNode::poll(PortId port, Instant now, std::size_t most) {
  std::array<FrameHandle, kBurst> frames;
  std::size_t sent = 0;
  while (sent < most) {
    const std::size_t asked = std::min(most - sent, kBurst);
    const std::size_t count = poll_burst(port, std::span(frames).first(asked), now);
    for (std::size_t i = 0; i < count; ++i) send(port, frames[i]);
    sent += count;
    if (count < asked) break;
  }
  return sent;
}

void GatewayNode::run(Instant now) {
  if (engine_ == nullptr) return;
  if (machine_) return round(now);
  watched(1, [&] {
    engine_->handle_timeout(now);
    return true;
  });
  poll(PortId::kLan, now);
  poll(PortId::kWan, now);
}

// As satrelayd's worker does.
void GatewayNode::round(Instant now) {
  if (!machine_->is_free(now)) {
    if (machine_->away_since(now) == now) stop_between_writing_and_sending(now);
    return;
  }
  constexpr std::size_t kMostSent = 4 * kBurst;
  for (const FrameHandle frame : stuck_) send(PortId::kWan, frame);
  if (!stuck_.empty() && insight_ == Insight::kAll) engine_->note_late_sending(stuck_since_, now);
  stuck_.clear();
  std::size_t frames = empty(PortId::kLan) + empty(PortId::kWan);
  watched(1, [&] {
    engine_->handle_timeout(now);
    return true;
  });
  frames += poll(PortId::kLan, now, kMostSent);
  frames += poll(PortId::kWan, now, kMostSent);
  machine_->spend(frames, now);
}

// A burst at most; what is left waits for the next round.
std::size_t GatewayNode::empty(PortId port) {
  Ring& ring = rings_[static_cast<std::size_t>(port)];
  std::array<FrameHandle, kBurst> frames;
  std::size_t taken = 0;
  for (; taken < kBurst && !ring.empty(); ++taken) frames[taken] = ring.pop();
  if (taken > 0) take(port, std::span(frames).first(taken));
  if (ring.empty()) ring.set_empty_at(loop_->now());
  return taken;
}

// Where a pause does most harm: what the engine believes to have left has not.
void GatewayNode::stop_between_writing_and_sending(Instant now) {
  stuck_since_ = now;
  if (stuck_.size() >= kBurst) return;
  std::array<FrameHandle, kBurst> frames;
  const std::size_t room = kBurst - stuck_.size();
  const std::size_t count = poll_burst(PortId::kWan, std::span(frames).first(room), now);
  stuck_.insert(stuck_.end(), frames.begin(), frames.begin() + static_cast<std::ptrdiff_t>(count));
}

Instant GatewayNode::next_timeout() const {
  if (engine_ == nullptr) return Instant::never();
  Instant next = engine_->next_timeout();
  if (machine_) {
    const Instant now = loop_->now();
    const bool waits = !rings_[0].empty() || !rings_[1].empty() || !stuck_.empty();
    if (waits) next = now;
    next = next.is_never() ? next : machine_->free_at(later(next, now));
    return earlier(next, machine_->next_absence(now));
  }
  if (next.is_never() || tick_ == Duration::zero() || next <= loop_->now()) return next;
  const std::int64_t tick = tick_.to_nanoseconds();
  return Instant::from_nanoseconds((next.to_nanoseconds() + tick - 1) / tick * tick);
}

}  // namespace satrelay::sim
