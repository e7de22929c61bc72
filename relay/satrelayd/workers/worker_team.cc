// The part of class Worker that passes frames to and from the other workers of the gateway.
#include <algorithm>
#include <bit>
#include <utility>

#include "relay/satrelayd/workers/worker.h"

namespace satrelay::satrelayd {

using What = Handover::What;

bool Worker::give(unsigned to, Handover::Item item, dpdk::Packet& packet) {
  item.packet = std::move(packet);
  to_wake_ |= 1U << to;
  if (team_->handover.give(team_->index, to, item)) return true;
  packet = std::move(item.packet);
  return false;
}

void Worker::give_frame(unsigned to, gateway::PortId from, dpdk::Packet packet) {
  const Instant since = from == gateway::PortId::kWan ? now_ - waited_ : now_;
  if (give(to, {.what = What::kFrame, .port = from, .since = since}, packet)) {
    ++counters_.given;
    return;
  }
  ++counters_.given_dropped;
  if (from == gateway::PortId::kWan) team_->handover.note_lost(team_->index, to);
}

void Worker::wake_others() {
  for (std::uint32_t rest = std::exchange(to_wake_, 0); rest != 0; rest &= rest - 1) {
    team_->handover.wake(static_cast<unsigned>(std::countr_zero(rest)));
  }
}

// Moves the packets that this worker owns to the front of `packets`, and gives each other packet to
// the worker that owns it. Returns the number of packets that this worker owns.
std::size_t Worker::keep_own(Side& from, Packets& packets, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) packets[i].prefetch_headers();
  std::size_t own = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const ConstBytes bytes = packets[i].bytes();
    gateway::Frame& look = looks_[own];
    gateway::look_at(bytes, look);
    const gateway::Route route = team_->steering.route(from.id, look, bytes, now_);
    take_released(from, packets, own);
    if (&look != &looks_[own]) looks_[own] = look;
    if (route.all) let_all_hear(from, packets[i], route.worker);
    if (route.kept) {
      packets[i] = {};
    } else if (route.worker == team_->index) {
      if (own != i) packets[own] = std::move(packets[i]);
      ++own;
    } else {
      give_frame(route.worker, from.id, std::move(packets[i]));
    }
  }
  const gateway::Steering::Counters& steered = team_->steering.counters();
  counters_.fragments_dropped = steered.dropped_late + steered.dropped_no_room;
  counters_.neighbours_not_overheard = steered.not_overheard;
  return own;
}

// Takes fragments that steering held until it knew which worker owns them. Handles them, or gives
// them to their owner. The order of frames is kept: this function first handles the `count` earlier
// packets in `own`. The caller afterwards handles the frame that revealed the owner.
void Worker::take_released(Side& from, Packets& own, std::size_t& count) {
  while (const auto released = team_->steering.take_released()) {
    dpdk::Packet packet = pool_.allocate();
    if (!packet) {
      ++from.drops.no_buffer;
      continue;
    }
    std::ranges::copy(released->frame, packet.room().begin());
    packet.set_size(released->frame.size());
    packet.set_received();
    if (released->worker == team_->index) {
      handle(from, own, std::exchange(count, 0), looks_);
      Packets alone;
      alone[0] = std::move(packet);
      handle(from, alone, 1);
    } else {
      give_frame(released->worker, from.id, std::move(packet));
    }
  }
}

void Worker::let_all_hear(Side& from, const dpdk::Packet& packet, unsigned except) {
  for (unsigned other = 0; other < team_->handover.workers(); ++other) {
    if (other == except) continue;
    if (other == team_->index) {
      gateway_.overhear(from.id, packet.bytes(), now_);
      continue;
    }
    // If the ring has too little room, the other worker does not get this frame. It can learn the
    // same address from a later frame.
    if (!team_->handover.hears(team_->index, other)) {
      ++counters_.given_dropped;
      continue;
    }
    dpdk::Packet copy = pool_.copy(packet);
    if (!copy) {
      ++from.drops.no_buffer;
    } else if (!give(other, {.what = What::kHeard, .port = from.id}, copy)) {
      ++counters_.given_dropped;
    }
  }
}

// Tells the engine about frames that another worker received for this one: how long they waited,
// and how many were lost, both in that worker's queue and between the workers.
void Worker::note_reception_of(unsigned other, Instant since) {
  // Add the other worker's count of missed frames only if this worker has no queue. A worker with a
  // queue counts its missed frames itself. On devices that count the missed frames of all queues
  // together, the sum would count frames twice.
  const std::uint64_t missed =
      team_->handover.lost(other, team_->index) + (wan_.queue ? 0 : team_->handover.missed(other));
  if (missed_by_[other]) missed_by_others_ += missed - *missed_by_[other];
  missed_by_[other] = missed;
  gateway_.set_wan_reception(reception(std::max(Duration::zero(), now_ - since)));
}

// A worker without a queue gives the frames to send to the first worker. Checks whether the first
// worker sent them late.
void Worker::hear_of_late_sending() {
  if (const auto late = team_->handover.take_late(team_->index)) {
    gateway_.note_late_sending(late->since, late->now);
  }
}

bool Worker::take_over() {
  bool any = false;
  for (unsigned other = 0; other < team_->handover.workers(); ++other) {
    if (other != team_->index) any |= take_over_from(other);
  }
  return any;
}

bool Worker::take_over_from(unsigned other) {
  std::array<Handover::Item, Handover::kBurst> items;
  const std::size_t count = team_->handover.take(team_->index, other, items);
  Packets frames;
  std::size_t waiting = 0;
  gateway::PortId port{};  // the port that received the frames in `frames`
  const auto handle_waiting = [&] { handle(side(port), frames, std::exchange(waiting, 0)); };
  for (std::size_t i = 0; i < count; ++i) {
    Handover::Item& item = items[i];
    if (item.what != What::kFrame || item.port != port) handle_waiting();
    switch (item.what) {
      case What::kFrame:
        port = item.port;
        if (waiting == 0 && port == gateway::PortId::kWan) note_reception_of(other, item.since);
        frames[waiting++] = std::move(item.packet);
        ++counters_.taken;
        break;
      case What::kHeard:
        gateway_.overhear(item.port, item.packet.bytes(), now_);
        break;
      case What::kSend:
        if (item.port == gateway::PortId::kWan) {
          given_since_[other] = earlier(given_since_[other], item.since);
        }
        // The worker that gave the frame has already shown it to the capture tap.
        if (make_room(side(item.port))) side(item.port).out.push(std::move(item.packet));
        break;
    }
  }
  handle_waiting();
  return count > 0;
}

}  // namespace satrelay::satrelayd
