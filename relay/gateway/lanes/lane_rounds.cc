#include "relay/gateway/lanes/lane_rounds.h"

#include <utility>

#include "pep/base/containers/ready_set.h"

namespace satrelay::gateway {

// After an outage, each of hundreds of sessions may have thousands of lost packets. So all sessions
// together settle at most kSettledAtOnce objects in one call. If more than a quarter of this limit
// is used, the call visits no further session. The next call begins with the first session that was
// not visited.
void LaneRounds::run(Instant now) {
  constexpr std::uint64_t kOthersMayFollow = stp::Session::kSettledAtOnce / 4;
  std::uint64_t visited = 0;
  const LaneId begin = std::exchange(first_lane_, LaneId());
  const auto run_one = [&](LaneId id) {
    if (visited > kOthersMayFollow) {
      first_lane_ = id;
      return false;
    }
    const stp::Session& session = parts_.lanes[id]->session;
    const std::uint64_t before = session.visited();
    run(id, stp::Session::kSettledAtOnce - visited, now);
    visited += session.visited() - before;
    return true;
  };
  parts_.uplink.ready_set().for_each_from(begin, run_one);
}

void LaneRounds::run(LaneId id, std::uint64_t most_settled, Instant now) {
  Lane& lane = *parts_.lanes[id];
  if (lane.session.next_timeout() <= now) lane.session.handle_timeout(now, most_settled);
  events_.take(id, now);
  parts_.counters.add(Counter::kMessagesUntaken,
                      lane.control_messages.handle_timeout(parts_.orphans, now));
  if (now < silence_due(lane, now)) return;
  lane.silence = lane.silent_since();
  parts_.flows.epochs().look_at_all();
}

void LaneRounds::change_the_first(Instant now) {
  repairs_first_ = !repairs_first_;
  if (!repairs_first_) return;
  parts_.budget.renew();
  work_off_repairs(now);
}

void LaneRounds::work_off_repairs(Instant now) {
  parts_.uplink.ready_set().for_each_from(first_with_repairs_, [&](LaneId id) {
    if (parts_.budget.is_spent()) return false;
    stp::Session& session = parts_.lanes[id]->session;
    if (!session.repairs_wait()) return true;
    session.work_off_repairs(now);
    if (parts_.budget.is_spent()) first_with_repairs_ = id.next();
    return true;
  });
}

// Returns when the flows must be informed that the peer has become silent, or is no longer silent.
Instant LaneRounds::silence_due(const Lane& lane, Instant now) const {
  const Instant since = lane.silent_since();
  if (since == lane.silence) return Instant::never();
  return since.is_never() ? now : since + parts_.config.stp.suspect_after;
}

Instant LaneRounds::next_timeout_of(LaneId id, Instant now) const {
  const Lane& lane = *parts_.lanes[id];
  if (lane.session.work_waits() || lane.session.has_events()) return now;
  Instant next = earlier(silence_due(lane, now), lane.control_messages.next_timeout());
  if (parts_.is_reachable(id)) next = earlier(next, lane.session.next_timeout());
  return next;
}

void LaneRounds::let_rest(Instant now) {
  ReadySet<LaneId>& ready_set = parts_.uplink.ready_set();
  ready_set.for_each([&](LaneId id) {
    const Lane& lane = *parts_.lanes[id];
    if (lane.flows > 0 || !parts_.is_reachable(id) || lane.session.waiting() != 0) return;
    if (const Instant next = next_timeout_of(id, now); next > now) ready_set.rest(id, next);
  });
}

void LaneRounds::let_few_rest(Instant now) {
  constexpr std::size_t kFew = 8;
  const std::size_t awake = parts_.uplink.ready_set().awake();
  if (awake > 1 && awake <= kFew) let_rest(now);
}

}  // namespace satrelay::gateway
