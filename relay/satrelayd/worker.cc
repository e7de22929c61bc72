#include "relay/satrelayd/worker.h"

#include <utility>

#include "relay/dpdk/clock.h"

namespace satrelay::satrelayd {
namespace {

// Bursts that one side may send before the other side is looked at again.
constexpr int kBurstsPerTurn = 4;

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

bool Worker::receive(Side& from, Side& to) {
  if (from.port->receive(in_) == 0) return false;
  now_ = dpdk::now();
  while (!in_.empty()) {
    dpdk::Packet packet = in_.pop();
    if (tap_.sees(place_of(from))) tap_.see(ops::CaptureWay::kIn, packet.bytes(), now_);
    switch (gateway_.handle_frame(from.id, packet.bytes(), now_)) {
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
    if (side.port->send(side.out) == 0) return worked;
    worked = true;
    if (!more) return worked;
  }
  return worked;
}

dpdk::PollLoop::Round Worker::round(Instant now) {
  now_ = now;
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
