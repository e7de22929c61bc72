#include "relay/satrelayd/workers/worker.h"

#include <span>
#include <utility>

#include "relay/dpdk/loop/clock.h"
#include "relay/dpdk/socket/finish_checksum.h"

namespace satrelay::satrelayd {
namespace {

// How many bursts the worker may send for one port before it serves the other port.
constexpr int kBurstsPerTurn = 4;
// How often to ask the port for its number of missed frames. This takes one or two system calls.
constexpr Duration kMissedInterval = Duration::milliseconds(10);
constexpr Duration kMissedIntervalAtRest = Duration::milliseconds(100);

}  // namespace

Worker::Worker(gateway::Gateway& gateway, dpdk::Port& lan, dpdk::Port& wan, dpdk::PacketPool& pool,
               CaptureTap& tap, std::optional<Team> team)
    : gateway_(gateway),
      team_(std::move(team)),
      pool_(pool),
      tap_(tap),
      lan_{.id = gateway::PortId::kLan, .port = &lan, .queue = {}},
      wan_{.id = gateway::PortId::kWan, .port = &wan, .queue = {}} {
  for (Side* side : {&lan_, &wan_}) {
    if (index() < side->port->queues()) side->queue = index();
  }
  if (!team_) return;
  missed_by_.resize(team_->handover.workers());
  given_since_.resize(team_->handover.workers(), Instant::never());
}

void Worker::record_flows(records::RecordRing& ring) {
  records_ = &ring;
  gateway_.record_flows(this);
}

void Worker::handle_end(const gateway::FlowRecord& record) {
  if (!records_->push(record)) ++counters_.records_lost;
}

void Worker::see_plain(gateway::LinkWay way, ConstBytes frame) {
  tap_.see(ops::CapturePlace::kPlain,
           way == gateway::LinkWay::kSend ? ops::CaptureWay::kOut : ops::CaptureWay::kIn, frame,
           now_);
}

void Worker::put_out(Side& side, dpdk::Packet packet) {
  if (tap_.sees(place_of(side))) {
    dpdk::finish_left_checksum(packet);  // so that the captured frame has the right checksum
    tap_.see(place_of(side), ops::CaptureWay::kOut, packet.bytes(), now_);
  }
  side.out.push(std::move(packet));
}

bool Worker::make_room(Side& side) {
  if (side.out.full()) send_out(side);
  if (!side.out.full()) return true;
  ++side.drops.bridge_overflow;
  return false;
}

void Worker::bridge(Side& to, dpdk::Packet packet) {
  if (make_room(to)) put_out(to, std::move(packet));
}

// Frames wait in a port for some time before the port overflows. So if frames have waited, ask the
// port for its number of missed frames more often.
void Worker::note_reception(std::size_t count, std::size_t room, Instant asked) {
  waited_ = poll_gap_.on_received(count, room, asked, now_);
  if (count == 0) return;
  const bool late = waited_ >= stp::OwnReception::kWorthTelling;
  if (now_ >= missed_at_ + (late ? kMissedInterval : kMissedIntervalAtRest)) {
    missed_at_ = now_;
    missed_ = wan_.port->missed(index());
    if (team_) team_->handover.note_missed(index(), missed_);
  }
  gateway_.set_wan_reception(reception(waited_));
}

bool Worker::receive(Side& from) {
  if (!from.queue) return false;
  const Instant asked = now_;
  const std::size_t room = dpdk::Burst::kCapacity - in_.size();
  const std::size_t count = from.port->receive(in_, *from.queue);
  if (count > 0) now_ = dpdk::now();
  if (from.id == gateway::PortId::kWan) note_reception(count, room, asked);
  if (count == 0) return false;
  Packets packets;
  const bool seen = tap_.sees(place_of(from));
  const std::size_t all = in_.size();
  counters_.frames += all;
  for (std::size_t i = 0; i < all; ++i) {
    packets[i] = in_.pop();
    if (seen) tap_.see(place_of(from), ops::CaptureWay::kIn, packets[i].bytes(), now_);
  }
  if (team_) {
    handle(from, packets, keep_own(from, packets, all), looks_);
  } else {
    handle(from, packets, all);
  }
  return true;
}

// Passes the packets to the engine, and treats each packet as the engine decides.
void Worker::handle(Side& from, Packets& packets, std::size_t count,
                    std::span<gateway::Frame> looks) {
  if (count == 0) return;
  std::array<gateway::Gateway::Arrived, dpdk::Burst::kCapacity> frames;
  std::array<gateway::Gateway::Handled, dpdk::Burst::kCapacity> handled;
  for (std::size_t i = 0; i < count; ++i) {
    frames[i] = {.bytes = packets[i].bytes(),
                 .checksum = packets[i].checksum_is_verified() ? gateway::Checksum::kVerified
                                                               : gateway::Checksum::kUnknown,
                 .seen = looks.empty() ? nullptr : &looks[i]};
  }
  gateway_.handle_frames(from.id, std::span(frames).first(count), std::span(handled).first(count),
                         now_);
  for (std::size_t i = 0; i < count; ++i) {
    switch (handled[i].verdict) {
      case gateway::Verdict::kBridge:
        bridge(side(gateway::other(from.id)), std::move(packets[i]));
        break;
      case gateway::Verdict::kQueued:
        held_[handled[i].slot] = std::move(packets[i]);
        break;
      case gateway::Verdict::kConsumed:
      case gateway::Verdict::kDrop:
        packets[i] = {};
        break;
    }
  }
}

// Fills the port's burst with frames from the engine. Returns true if the engine may have more
// frames.
bool Worker::fill(Side& side) {
  std::array<MutableBytes, dpdk::Burst::kCapacity> rooms;
  std::array<gateway::Polled, dpdk::Burst::kCapacity> polled;
  const std::size_t room = dpdk::Burst::kCapacity - side.out.size();
  std::size_t count = 0;
  for (; count < room; ++count) {
    dpdk::Packet& spare = spares_[count];
    if (!spare) spare = pool_.allocate();
    if (!spare) break;
    rooms[count] = spare.room();
  }
  const std::size_t written = gateway_.poll_frames(side.id, std::span(rooms).first(count),
                                                   std::span(polled).first(count), now_);
  if (written == count && count < room) ++side.drops.no_buffer;
  for (std::size_t i = 0; i < written; ++i) {
    if (polled[i].kind == gateway::Polled::Kind::kHeld) {
      put_out(side, std::move(held_[polled[i].slot]));
      continue;
    }
    if (polled[i].kind == gateway::Polled::Kind::kDropped) {
      held_[polled[i].slot] = {};
      continue;
    }
    spares_[i].set_size(polled[i].size);
    if (polled[i].checksum_from != 0) spares_[i].leave_checksum(polled[i].checksum_from);
    put_out(side, std::move(spares_[i]));
  }
  return written == count;
}

bool Worker::send(Side& side) {
  bool worked = false;
  now_ = dpdk::now();
  for (int i = 0; i < kBurstsPerTurn; ++i) {
    const bool more = fill(side);
    if (side.out.empty()) return worked;
    const std::size_t sent = send_out(side);
    if (side.id == gateway::PortId::kWan) note_sending();
    if (sent == 0) return worked;
    worked = true;
    if (!more) return worked;
  }
  return worked;
}

// If the WAN port has just sent frames late, tells the engine about its own frames, and other
// workers about frames that they gave to this worker.
void Worker::note_sending() {
  const Instant left = dpdk::now();
  if (left - now_ >= kLateSending) gateway_.note_late_sending(now_, left);
  for (unsigned other = 0; other < given_since_.size(); ++other) {
    const Instant since = std::exchange(given_since_[other], Instant::never());
    if (!since.is_never() && left - since >= kLateSending) {
      team_->handover.note_late(other, since, left);
    }
  }
}

std::size_t Worker::send_out(Side& side) {
  if (side.queue) return side.port->send(side.out, *side.queue);
  std::size_t sent = 0;
  while (!side.out.empty()) {
    dpdk::Packet packet = side.out.pop();
    if (!give(0, {.what = Handover::What::kSend, .port = side.id, .since = now_}, packet)) {
      side.out.put_back(std::move(packet));
      break;
    }
    ++sent;
  }
  return sent;
}

void Worker::answer_bell(Duration rest) {
  if (team_) team_->handover.answer_bell(team_->index, rest > Duration::zero());
}

dpdk::PollLoop::Round Worker::round(Instant now, Duration rest) {
  now_ = now;
  poll_gap_.on_rest(rest);
  if (index() == 0) tap_.settle();
  if (const bool plain = tap_.sees(ops::CapturePlace::kPlain); plain != shows_plain_) {
    shows_plain_ = plain;
    gateway_.observe_plain(plain ? this : nullptr);
  }
  bool worked = receive(lan_);
  worked |= receive(wan_);
  if (team_) worked |= take_over();
  if (!wan_.queue) hear_of_late_sending();
  // Use the arrival time of the last frame. The engine may have deferred work at that time, and
  // that work is due now.
  if (gateway_.next_timeout() <= now_) gateway_.handle_timeout(now_);
  worked |= send(lan_);
  worked |= send(wan_);
  if (to_wake_ != 0) wake_others();
  const bool waiting = !lan_.out.empty() || !wan_.out.empty();
  return {worked, waiting ? now : gateway_.next_timeout()};
}

}  // namespace satrelay::satrelayd
