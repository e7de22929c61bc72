// Visits the lanes: runs their timers and advances the repairs of lost packets. Lanes that have
// nothing to do rest: they are not visited until something wakes them. There may be very many
// lanes, so a call may visit only some of them, and the next call continues.
#pragma once

#include <cstdint>

#include "pep/base/time.h"
#include "relay/gateway/ids.h"
#include "relay/gateway/lanes/session_events.h"
#include "relay/gateway/parts/gateway_parts.h"

namespace satrelay::gateway {

class LaneRounds {
 public:
  LaneRounds(GatewayParts& parts, SessionEvents& events) : parts_(parts), events_(events) {}

  // Call this before timeouts are handled, and before the budget is renewed for them. Flows and
  // repairs share the budget. If a timeout has spent the whole budget, the next timeout swaps the
  // order of flows and repairs, so that neither starves the other.
  void begin_timeout(Instant now) {
    if (timeout_spent_budget_) change_the_first(now);
  }
  void end_timeout() { timeout_spent_budget_ = parts_.budget.is_spent(); }
  // Whether repairs come before flows in this call.
  bool repairs_are_first() const { return repairs_first_; }
  // Advances the repairs of the sessions in round robin until the budget is spent.
  void work_off_repairs(Instant now);
  // Runs the timers of the lanes that are awake.
  void run(Instant now);

  // Returns when the lane must be run again. `now` is the time of the last call.
  Instant next_timeout_of(LaneId id, Instant now) const;
  // Lets lanes without flows rest. A packet on the lane, an operator's command or the lane's own
  // timer wakes the lane. If the peer cannot be reached, its lane stays awake, since no event would
  // report that the peer has become reachable.
  void let_rest(Instant now);
  // Calls let_rest() if two to eight lanes are awake. A lane may send many packets at once only if
  // no other lane is awake. So an idle lane, for example after its HELLO, should not stay awake.
  void let_few_rest(Instant now);

 private:
  void change_the_first(Instant now);
  void run(LaneId id, std::uint64_t most_settled, Instant now);
  Instant silence_due(const Lane& lane, Instant now) const;

  GatewayParts& parts_;
  SessionEvents& events_;
  // The lane with which the next work_off_repairs() begins.
  LaneId first_with_repairs_;
  // The lane with which the next run() begins.
  LaneId first_lane_;
  // Whether the last timeout spent the whole budget.
  bool timeout_spent_budget_ = false;
  bool repairs_first_ = false;
};

}  // namespace satrelay::gateway
