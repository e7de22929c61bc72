#include "relay/sim/node/gateway_worker.h"

#include <algorithm>
#include <stdexcept>

#include "relay/gateway/frames/frame.h"

namespace satrelay::sim {

using gateway::PortId;
using gateway::Verdict;

void GatewayWorker::set_memory(std::size_t size) {
  memory_.emplace(size, BigMemory::pages_for(size));
}

void GatewayWorker::start(const config::Gateway& config, gateway::Identity identity,
                          std::uint64_t seed) {
  entropy_ = SeededEntropy(seed);
  identity.entropy = &entropy_;
  engine_ = std::make_unique<gateway::Gateway>(config, identity, memory_->bytes(), node_.loop.now(),
                                               std::as_writable_bytes(std::span(journal_)));
  if (engine_->max_frame_size() > node_.frames.frame_size()) {
    throw std::invalid_argument("frames of the gateway do not fit the simulation's pool");
  }
}

void GatewayWorker::stop() {
  engine_.reset();
  for (const auto& [slot, frame] : held_) node_.frames.release(frame);
  held_.clear();
  for (const FrameHandle frame : stuck_) node_.frames.release(frame);
  stuck_.clear();
  for (Spare& spare : spares_) {
    if (spare.is_ours) node_.frames.release(spare.frame);
    spare.is_ours = false;
  }
  for (Ring& ring : rings_) {
    while (!ring.empty()) node_.frames.release(ring.pop());
  }
}

std::size_t GatewayWorker::call_size(std::size_t frames) const {
  return node_.spec.verbs == Verbs::kBursts ? frames : 1;
}

void GatewayWorker::hand_over(PortId port, FrameHandle frame) {
  const Instant now = node_.loop.now();
  Ring& ring = ring_of(port);
  const bool is_free = !node_.machine || node_.machine->is_free(now);
  if (!is_starved(now) && ring.empty() && is_free) {
    ring.set_empty_at(now);
    take(port, {&frame, 1});
    if (node_.machine) node_.machine->spend(1, now);
    return;
  }
  if (!ring.push(frame, node_.spec.ring, node_.machine ? node_.machine->away_since(now) : now)) {
    node_.tracer.frame(now, node_.name, "miss", node_.frames.bytes(frame));
    node_.frames.release(frame);
  }
}

void GatewayWorker::take(PortId port, std::span<const FrameHandle> frames) {
  if (node_.machine && port == PortId::kWan) engine_->set_wan_reception(reception());
  std::array<gateway::Gateway::Arrived, kBurst> arrived;
  std::array<gateway::Gateway::Handled, kBurst> handled;
  std::array<gateway::Frame, kBurst> looks;  // parsed before the call, as satrelayd's steering does
  for (std::size_t i = 0; i < frames.size(); ++i) {
    arrived[i] = {.bytes = node_.frames.bytes(frames[i])};
    if (node_.workers == 1) continue;
    looks[i] = gateway::look_at(arrived[i].bytes);
    arrived[i].seen = &looks[i];
  }
  const std::size_t at_once = call_size(frames.size());
  for (std::size_t i = 0; i < frames.size(); i += at_once) {
    node_.work.watched(*engine_, at_once, node_.loop.now(), [&] {
      engine_->handle_frames(port, std::span(arrived).subspan(i, at_once),
                             std::span(handled).subspan(i, at_once), node_.loop.now());
      return true;
    });
  }
  for (std::size_t i = 0; i < frames.size(); ++i) dispose(port, frames[i], handled[i]);
}

void GatewayWorker::dispose(PortId port, FrameHandle frame,
                            const gateway::Gateway::Handled& handled) {
  const PortId far = NodePorts::far(port);
  if (handled.verdict == Verdict::kBridge && node_.ports.is_connected(far)) {
    node_.tracer.frame(node_.loop.now(), node_.name, "bridge", node_.frames.bytes(frame));
    node_.ports.send(far, frame);
    return;
  }
  if (handled.verdict == Verdict::kQueued) {
    if (!held_.emplace(handled.slot, frame).second) {
      throw std::logic_error("two frames are held in one slot");
    }
    return;
  }
  if (handled.verdict == Verdict::kDrop) {
    node_.tracer.frame(node_.loop.now(), node_.name, "drop", node_.frames.bytes(frame));
  }
  node_.frames.release(frame);
}

stp::Reception GatewayWorker::reception() {
  const Ring& ring = ring_of(PortId::kWan);
  const Duration waited = node_.loop.now() - ring.empty_at();
  switch (node_.spec.insight) {
    case Insight::kAll:
      return {.waited = waited, .missed = ring.missed()};
    case Insight::kMissed:
      return {.waited = Duration::zero(), .missed = ring.missed()};
    case Insight::kNothing:
      break;
    case Insight::kFeigned:
      return {.waited = Duration::seconds(10), .missed = node_.feigned += 1'000};
  }
  return {};
}

void GatewayWorker::renew_spare(std::size_t i) {
  spares_[i] = {.frame = node_.frames.acquire(), .is_ours = true};
  rooms_[i] = node_.frames.room(spares_[i].frame);
}

GatewayWorker::Burst GatewayWorker::poll_burst(PortId port, std::span<FrameHandle> frames,
                                               Instant now) {
  std::array<gateway::Polled, kBurst> polled;
  for (std::size_t i = 0; i < frames.size(); ++i) {
    if (!spares_[i].is_ours) renew_spare(i);
  }
  const std::size_t at_once = call_size(frames.size());
  std::size_t count = 0;
  std::size_t got = at_once;
  while (got == at_once && count < frames.size()) {
    got = node_.work.watched(*engine_, at_once, now, [&] {
      return engine_->poll_frames(port, std::span(rooms_).subspan(count, at_once),
                                  std::span(polled).subspan(count, at_once), now);
    });
    count += got;
  }
  Burst burst{.is_full = count == frames.size()};
  for (std::size_t i = 0; i < count; ++i) {
    if (polled[i].kind == gateway::Polled::Kind::kWritten) {
      node_.frames.set_size(spares_[i].frame, polled[i].size);
      spares_[i].is_ours = false;
      frames[burst.count++] = spares_[i].frame;
      continue;
    }
    const FrameHandle kept = held_.at(polled[i].slot);
    held_.erase(polled[i].slot);
    const bool leaves = polled[i].kind == gateway::Polled::Kind::kHeld;
    node_.tracer.frame(node_.loop.now(), node_.name, leaves ? "bridge" : "drop",
                       node_.frames.bytes(kept));
    if (leaves) {
      frames[burst.count++] = kept;
    } else {
      node_.frames.release(kept);
    }
  }
  return burst;
}

std::size_t GatewayWorker::poll(PortId port, Instant now, std::size_t most) {
  std::array<FrameHandle, kBurst> frames;
  std::size_t sent = 0;
  while (sent < most) {
    const std::size_t asked = std::min(most - sent, kBurst);
    const Burst burst = poll_burst(port, std::span(frames).first(asked), now);
    for (std::size_t i = 0; i < burst.count; ++i) node_.ports.send(port, frames[i]);
    sent += burst.count;
    if (!burst.is_full) break;
  }
  return sent;
}

std::size_t GatewayWorker::empty(PortId port) {
  Ring& ring = ring_of(port);
  std::array<FrameHandle, kBurst> frames;
  std::size_t taken = 0;
  for (; taken < kBurst && !ring.empty(); ++taken) frames[taken] = ring.pop();
  if (taken > 0) take(port, std::span(frames).first(taken));
  if (ring.empty()) ring.set_empty_at(node_.loop.now());
  return taken;
}

void GatewayWorker::stop_between_writing_and_sending(Instant now) {
  node_.stuck_since = now;
  if (stuck_.size() >= kBurst) return;
  std::array<FrameHandle, kBurst> frames;
  const std::size_t room = kBurst - stuck_.size();
  const std::size_t count = poll_burst(PortId::kWan, std::span(frames).first(room), now).count;
  stuck_.insert(stuck_.end(), frames.begin(), frames.begin() + static_cast<std::ptrdiff_t>(count));
}

void GatewayWorker::handle_timeout(Instant now) {
  node_.work.watched(*engine_, 1, now, [&] {
    engine_->handle_timeout(now);
    return true;
  });
}

void GatewayWorker::send_all(Instant now) {
  poll(PortId::kLan, now);
  poll(PortId::kWan, now);
}

void GatewayWorker::run(Instant now) {
  if (is_starved(now)) return;
  while (empty(PortId::kLan) + empty(PortId::kWan) > 0) {
  }
  handle_timeout(now);
  send_all(now);
}

std::size_t GatewayWorker::round(Instant now) {
  constexpr std::size_t kMostSent = 4 * kBurst;
  for (const FrameHandle frame : stuck_) node_.ports.send(PortId::kWan, frame);
  if (!stuck_.empty() && node_.spec.insight == Insight::kAll) {
    engine_->note_late_sending(node_.stuck_since, now);
  }
  stuck_.clear();
  std::size_t frames = empty(PortId::kLan) + empty(PortId::kWan);
  handle_timeout(now);
  frames += poll(PortId::kLan, now, kMostSent);
  frames += poll(PortId::kWan, now, kMostSent);
  return frames;
}

Instant GatewayWorker::next_timeout() const {
  const bool is_due = has_arrived() && !node_.machine;
  const Instant due = is_due ? node_.loop.now() : engine_->next_timeout();
  return later(due, starved_until_);
}

}  // namespace satrelay::sim
