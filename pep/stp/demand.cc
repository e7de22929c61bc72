#include "pep/stp/demand.h"

#include <algorithm>

namespace satrelay::stp {

namespace {

// Data may use all but 1/16 of `max_packets_in_flight`. The last sixteenth is reserved for control
// frames.
constexpr std::uint32_t kControlShare = 16;

}  // namespace

bool Demand::data_allowed() const {
  if (!core_.connection.connected()) return false;
  const ProbeTimer& probes = core_.path().probes;
  if (probes.frozen() && !probes.data_allowed()) return false;
  // If the window is full, it opens only when a report arrives. The reports may be lost. So the
  // probe timer allows one more packet of data, which asks for a report.
  if (!core_.path().gate.window_open() && probes.in_flight() > 0 && !probes.data_allowed())
    return false;
  const std::uint64_t in_flight =
      core_.association->ledger.next() - core_.path().losses.oldest_unresolved();
  return in_flight < most_in_flight();
}

std::uint64_t Demand::most_in_flight() const {
  return core_.config.max_packets_in_flight - core_.config.max_packets_in_flight / kControlShare;
}

bool Demand::credits_wait() const {
  const LaneReceiveCredit& lane = core_.streams->receiving().credit().lane();
  return !core_.streams->due().credits().empty() || lane.urgent() || lane.lost() ||
         core_.streams->receiving().credit().start().due();
}

bool Demand::control_waits() const {
  return core_.path().requests.due() || !core_.streams->due().resets().empty() ||
         (credits_wait() && core_.now >= core_.path().feedback.credits_at()) ||
         core_.streams->due().confirmations_due(core_.now) || core_.own_capacity.due();
}

bool Demand::mtu_probe_waits() const {
  return data_allowed() && !core_.path().probes.frozen() && core_.path().mtu.probe_due() > 0;
}

// The earliest time at which the next repair may be sent; never() if there is none.
Instant Demand::next_repair() const {
  if (!repairs_allowed()) return Instant::never();
  return later(repair_planner().next_repair(), core_.path().gate.opens_at());
}

Instant Demand::next() const {
  Instant at = core_.streams->due().next_confirm();
  if (core_.association->received.next() > 0) {
    at = earlier(at, later(core_.path().feedback.due(), core_.path().gate.carrier_opens_at()));
  }
  if (credits_wait()) at = earlier(at, core_.path().feedback.credits_at());
  at = earlier(later(at, core_.path().gate.control_opens_at()), next_repair());
  if (data_waits() || mtu_probe_waits()) at = earlier(at, core_.path().gate.opens_at());
  return at;
}

}  // namespace satrelay::stp
