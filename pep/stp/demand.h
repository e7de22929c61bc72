// Decides which kinds of frames a session has to send, and when it may send them.
#pragma once

#include <cstdint>

#include "pep/base/time.h"
#include "pep/stp/fec/repair_planner.h"
#include "pep/stp/packets/stream_writer.h"
#include "pep/stp/session_core.h"

namespace satrelay::stp {

class Demand {
 public:
  // `core` and `writer` must outlive this object.
  Demand(const SessionCore& core, const StreamWriter& writer) : core_(core), writer_(writer) {}

  // Whether the state of the peer and of the path, and the number of packets in flight, allow
  // sending data. Ignores the pacers.
  bool data_allowed() const;
  // The number of packets in flight at which data must wait.
  std::uint64_t most_in_flight() const;
  // Whether there is data that could be sent if the pacers were open.
  bool data_waits() const {
    return data_allowed() && !core_.streams->sending().idle(writer_.turn().open);
  }
  // Whether data waits and may be sent now.
  bool data_leaves() const {
    return writer_.turn().streams && core_.path().gate.open(core_.now) && data_waits();
  }
  bool mtu_probe_waits() const;
  bool report_waits() const {
    return core_.association->received.next() > 0 && core_.now >= core_.path().feedback.due() &&
           core_.path().gate.carrier_open(core_.now);
  }
  bool credits_wait() const;
  bool control_waits() const;
  // The session must have FEC.
  RepairPlanner repair_planner() const {
    return RepairPlanner({.fec = *core_.fec,
                          .path = core_.path(),
                          .streams = *core_.streams,
                          .turn = writer_.turn(),
                          .next = core_.association->ledger.next(),
                          .stp_overhead = core_.stp_overhead(),
                          .now = core_.now});
  }
  bool repairs_allowed() const {
    return core_.may_repair() && !core_.path().probes.frozen() && data_allowed();
  }
  // The earliest time at which anything that waits for a clock or a pacer can be sent.
  Instant next() const;

 private:
  Instant next_repair() const;

  const SessionCore& core_;
  const StreamWriter& writer_;
};

}  // namespace satrelay::stp
