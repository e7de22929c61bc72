// The timers of a session: when each is due, and what is due then.
#pragma once

#include "pep/base/time.h"
#include "pep/stp/demand.h"
#include "pep/stp/session_core.h"

namespace satrelay::stp {

class SessionTimers {
 public:
  // Both outlive this object.
  SessionTimers(SessionCore& core, const Demand& demand) : core_(core), demand_(demand) {}

  // Does what is due.
  void run();
  // The earliest of the timers, the next packet that waits for a clock, and the next opening of the
  // pacer if something waits for it.
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
