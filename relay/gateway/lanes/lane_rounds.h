// Goes over the lanes: runs their timers, works off repairs, and lets lanes rest that have nothing
// to do. There may be very many lanes, so one call does a part, and the next call goes on.
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

  // A call for timeouts begins, before it renews the budget. Flows and repairs draw on one budget.
  // While timeouts spend it, flows and repairs take turns at being first, so that neither keeps the
  // other waiting.
  void begin_timeout(Instant now) {
    if (timeout_spent_budget_) change_the_first(now);
  }
  void end_timeout() { timeout_spent_budget_ = parts_.budget.is_spent(); }
  // In this call, repairs come before flows.
  bool repairs_are_first() const { return repairs_first_; }
  // Visits the sessions that have waiting repairs, one after the other. It begins behind the
  // session that has spent the last budget.
  void work_off_repairs(Instant now);
  // Runs the timers of the lanes that are awake.
  void run(Instant now);

  // When the lane must be run. `now`: the time of the last call.
  Instant next_timeout_of(LaneId id, Instant now) const;
  // A lane without flows rests until a packet on it, an operator's command or its own timer wakes
  // it. The lane of a peer that cannot be reached stays awake, since no event says when it can be
  // reached.
  void let_rest(Instant now);
  // If few lanes are awake. A lane that is awake only because it has just sent its HELLO would keep
  // the one sending lane from sending many packets at once.
  void let_few_rest(Instant now);

 private:
  void change_the_first(Instant now);
  void run(LaneId id, std::uint64_t most_settled, Instant now);
  Instant silence_due(const Lane& lane, Instant now) const;

  GatewayParts& parts_;
  SessionEvents& events_;
  // The next call works off repairs of this session first.
  LaneId first_with_repairs_;
  // The session that the next timeout runs first.
  LaneId first_lane_;
  // By the last timeout.
  bool timeout_spent_budget_ = false;
  bool repairs_first_ = false;
};

}  // namespace satrelay::gateway
