// The timers of a session: when each is due, and which action it runs.
#pragma once

#include "pep/base/time.h"
#include "pep/stp/demand.h"
#include "pep/stp/session_core.h"

namespace satrelay::stp {

class SessionTimers {
 public:
  // `core` and `demand` must outlive this object.
  SessionTimers(SessionCore& core, const Demand& demand) : core_(core), demand_(demand) {}

  // Runs the actions that are due.
  void run();
  // The earliest time at which a timer expires, a report or another packet is due, or a pacer opens
  // for which something waits.
  Instant next() const;

 private:
  template <typename Visit>
  void visit(Visit&& visit) const;
  void run_probe_timer();
  void suspect_peer();
  void run_linger();

  SessionCore& core_;
  const Demand& demand_;
};

}  // namespace satrelay::stp
