#include "relay/gateway/uplink/rates/worker_shares.h"

namespace satrelay::gateway {

using schedule::ClassId;
using schedule::ClassSet;

void WorkerShares::write_demands(Demands& demands, Instant now) const {
  for (const LinkId id : parts_.carriers.ids()) {
    const Carrier& carrier = *parts_.carriers[id];
    demands.terms[id] = carrier.terms;
    LinkDemand& link = demands.links[id];
    link = {.taken = carrier.share().serial,
            .sent = carrier.sent,
            .booked = carrier.pacer.booked(now).value(),
            .reports = carrier.report_budget.debited(),
            .sent_of = carrier.sent_of};
    // If there are several links, the gateway does not know which link the frames take.
    link.waiting = link.hungry = parts_.held.classes();
    for (ClassSet set = link.waiting; set != 0; set &= set - 1) {
      const ClassId waits = schedule::lowest_class(set);
      link.hosts[waits] = static_cast<std::uint32_t>(parts_.held.hosts(waits));
    }
  }
  for (const LaneId id : parts_.lines.ids()) {
    const Line& line = parts_.lines[id];
    demands.lanes[id] = {.limit = line.limit, .sent = line.sent};
    if (line.session.peer_state() == stp::PeerState::kAlive &&
        !line.carrier.config.finds_capacity()) {
      demands.terms[line.carrier.id].is_heard = true;
    }
  }
  parts_.ready_set.for_each([&](LaneId id) {
    const Line& line = parts_.lines[id];
    ClassSet waiting = line.session.waiting();
    if (waiting == 0 || !port_.is_reachable(id)) return;
    LinkDemand& link = demands.links[line.carrier.id];
    LaneDemand& lane = demands.lanes[id];
    link.waiting |= waiting;
    if (line.session.may_send_but_for_carrier(now)) link.hungry |= waiting;
    lane.waits = true;
    lane.hungry = line.session.shut_by_share(now);
    for (; waiting != 0; waiting &= waiting - 1) {
      const ClassId each = schedule::lowest_class(waiting);
      const auto hosts = static_cast<std::uint32_t>(line.session.waiting_hosts(each));
      link.hosts[each] += hosts;
      lane.hosts += hosts;
    }
  });
}

void WorkerShares::take(const Shares& shares, Instant now) {
  until_ = Instant::never();
  for (const LinkId link : parts_.carriers.ids()) {
    parts_.carriers[link]->take_share(shares.links[link], now);
    until_ = earlier(until_, parts_.carriers[link]->share().until);
  }
  for (const LaneId lane : parts_.lines.ids()) {
    const Line& line = parts_.lines[lane];
    if (line.carrier.share().has_risen) parts_.ready_set.wake(lane);
    line.session.set_share(
        line.carrier.share().has_expired() ? line.fallback() : shares.lanes[lane], now);
  }
}

void WorkerShares::expire(Instant now) {
  until_ = Instant::never();
  for (const auto& carrier : parts_.carriers) {
    if (now >= carrier->share().until) fall_back(*carrier, now);
    until_ = earlier(until_, carrier->share().until);
  }
}

void WorkerShares::fall_back(Carrier& carrier, Instant now) {
  carrier.fall_back(now);
  for (const Line& line : parts_.lines) {
    if (line.uses(carrier)) line.session.set_share(line.fallback(), now);
  }
}

}  // namespace satrelay::gateway
