// What a worker has to do with the others of its gateway.
#include <algorithm>
#include <bit>
#include <utility>

#include "relay/satrelayd/worker.h"

namespace satrelay::satrelayd {

using What = Handover::What;

bool Worker::give(unsigned to, What what, gateway::PortId port, dpdk::Packet& packet) {
  Handover::Item item{.what = what, .port = port, .packet = std::move(packet)};
  to_wake_ |= 1U << to;
  if (team_->handover.give(team_->index, to, item)) return true;
  packet = std::move(item.packet);
  return false;
}

void Worker::give_frame(unsigned to, gateway::PortId from, dpdk::Packet packet) {
  if (give(to, What::kFrame, from, packet)) {
    ++counters_.given;
  } else {
    ++counters_.given_dropped;
  }
}

void Worker::wake_others() {
  for (std::uint32_t rest = std::exchange(to_wake_, 0); rest != 0; rest &= rest - 1) {
    team_->handover.wake(static_cast<unsigned>(std::countr_zero(rest)));
  }
}

// Of what has come, what is this worker's stays in front; the others get the rest.
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
  const gateway::Steering::Counters& fragments = team_->steering.counters();
  counters_.fragments_dropped = fragments.dropped_late + fragments.dropped_no_room;
  return own;
}

// Fragments of which it is known now whose they are: before the frame that has told it, behind all
// that came before, `count` in `own`.
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
    // Who misses one hears the next.
    dpdk::Packet copy = pool_.copy(packet);
    if (!copy) {
      ++from.drops.no_buffer;
    } else if (!give(other, What::kHeard, from.id, copy)) {
      ++counters_.given_dropped;
    }
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
  gateway::PortId port{};  // by which these came
  const auto handle_waiting = [&] { handle(side(port), frames, std::exchange(waiting, 0)); };
  for (std::size_t i = 0; i < count; ++i) {
    Handover::Item& item = items[i];
    if (item.what != What::kFrame || item.port != port) handle_waiting();
    switch (item.what) {
      case What::kFrame:
        port = item.port;
        frames[waiting++] = std::move(item.packet);
        ++counters_.taken;
        break;
      case What::kHeard:
        gateway_.overhear(item.port, item.packet.bytes(), now_);
        break;
      case What::kSend:
        // Who gave it has shown it to the tap.
        if (make_room(side(item.port))) side(item.port).out.push(std::move(item.packet));
        break;
    }
  }
  handle_waiting();
  return count > 0;
}

}  // namespace satrelay::satrelayd
