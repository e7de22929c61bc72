#include "relay/satrelayd/worker.h"

#include <utility>

#include "relay/dpdk/clock.h"

namespace satrelay::satrelayd {
namespace {

// Bursts that one side may send before the other side is looked at again.
constexpr int kBurstsPerTurn = 4;
// A system call or two each.
constexpr Duration kMissedInterval = Duration::milliseconds(10);
constexpr Duration kMissedIntervalAtRest = Duration::milliseconds(100);
// Writing frames and handing them over takes less.
constexpr Duration kLateSending = Duration::milliseconds(1);

}  // namespace

Worker::Worker(gateway::Gateway& gateway, dpdk::Port& lan, dpdk::Port& wan, dpdk::PacketPool& pool,
               CaptureTap& tap)
    : gateway_(gateway),
      pool_(pool),
      tap_(tap),
      lan_{.id = gateway::PortId::kLan, .port = &lan},
      wan_{.id = gateway::PortId::kWan, .port = &wan} {}

void Worker::see_plain(gateway::LinkWay way, ConstBytes frame) {
  tap_.see(way == gateway::LinkWay::kSend ? ops::CaptureWay::kOut : ops::CaptureWay::kIn, frame,
           now_);
}

void Worker::put_out(Side& side, dpdk::Packet packet) {
  if (tap_.sees(place_of(side))) tap_.see(ops::CaptureWay::kOut, packet.bytes(), now_);
  side.out.push(std::move(packet));
}

void Worker::bridge(Side& to, dpdk::Packet packet) {
  if (to.out.full()) to.port->send(to.out);
  if (to.out.full()) {
    ++to.drops.bridge_overflow;
    return;
  }
  put_out(to, std::move(packet));
}

// A port that overflows has not been empty for a while.
void Worker::note_reception(std::size_t count, std::size_t room, Instant asked) {
  reception_.waited = attendance_.on_received(count, room, asked, now_);
  if (count == 0) return;
  const bool late = reception_.waited >= stp::OwnReception::kWorthTelling;
  if (now_ >= missed_at_ + (late ? kMissedInterval : kMissedIntervalAtRest)) {
    missed_at_ = now_;
    reception_.missed = wan_.port->missed();
  }
  gateway_.set_wan_reception(reception_);
}

bool Worker::receive(Side& from, Side& to) {
  const Instant asked = now_;
  const std::size_t room = dpdk::Burst::kCapacity - in_.size();
  const std::size_t count = from.port->receive(in_);
  if (count > 0) now_ = dpdk::now();
  if (from.id == gateway::PortId::kWan) note_reception(count, room, asked);
  if (count == 0) return false;
  while (!in_.empty()) {
    dpdk::Packet packet = in_.pop();
    if (tap_.sees(place_of(from))) tap_.see(ops::CaptureWay::kIn, packet.bytes(), now_);
    const auto checksum =
        packet.checksum_is_verified() ? gateway::Checksum::kVerified : gateway::Checksum::kUnknown;
    switch (gateway_.handle_frame(from.id, packet.bytes(), now_, checksum)) {
      case gateway::Verdict::kBridge:
        bridge(to, std::move(packet));
        break;
      case gateway::Verdict::kQueued:
        held_[gateway_.held_slot()] = std::move(packet);
        break;
      case gateway::Verdict::kConsumed:
      case gateway::Verdict::kDrop:
        break;
    }
  }
  return true;
}

bool Worker::send(Side& side) {
  bool worked = false;
  now_ = dpdk::now();
  for (int i = 0; i < kBurstsPerTurn; ++i) {
    bool more = true;
    while (more && !side.out.full()) {
      if (!spare_) spare_ = pool_.allocate();
      if (!spare_) {
        ++side.drops.no_buffer;
        break;
      }
      const gateway::Polled polled = gateway_.poll_frame(side.id, spare_.room(), now_);
      more = polled.kind != gateway::Polled::Kind::kNothing;
      if (!more) break;
      if (polled.kind == gateway::Polled::Kind::kHeld) {
        put_out(side, std::move(held_[polled.slot]));
        continue;
      }
      spare_.set_size(polled.size);
      put_out(side, std::move(spare_));
    }
    if (side.out.empty()) return worked;
    const std::size_t sent = side.port->send(side.out);
    if (side.id == gateway::PortId::kWan) {
      const Instant left = dpdk::now();
      if (left - now_ >= kLateSending) gateway_.note_late_sending(now_, left);
    }
    if (sent == 0) return worked;
    worked = true;
    if (!more) return worked;
  }
  return worked;
}

dpdk::PollLoop::Round Worker::round(Instant now, Duration rest) {
  now_ = now;
  attendance_.on_rest(rest);
  if (tap_.settle()) {
    gateway_.observe_plain(tap_.sees(ops::CapturePlace::kPlain) ? this : nullptr);
  }
  bool worked = receive(lan_, wan_);
  worked |= receive(wan_, lan_);
  if (gateway_.next_timeout() <= now) gateway_.handle_timeout(now);
  worked |= send(lan_);
  worked |= send(wan_);
  const bool waiting = !lan_.out.empty() || !wan_.out.empty();
  return {worked, waiting ? now : gateway_.next_timeout()};
}

}  // namespace satrelay::satrelayd
