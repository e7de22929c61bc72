// Session::PathView: the path of a session, as the relay sees it.
#include "pep/stp/session_core.h"

namespace satrelay::stp {

Duration Session::PathView::smoothed_rtt() const { return core_.path().rtt.smoothed(); }

std::optional<Duration> Session::PathView::measured_rtt() const {
  if (!core_.path().rtt.measured()) return std::nullopt;
  return core_.path().rtt.smoothed();
}

std::optional<Duration> Session::PathView::shortest_rtt() const {
  return core_.path().rtt.shortest();
}

BitRate Session::PathView::send_rate() const { return core_.path().gate.rate(); }

const std::optional<RateCut>& Session::PathView::last_rate_cut() const {
  return core_.path().gate.cuts().last();
}

BitRate Session::PathView::found_capacity() const { return core_.path().gate.found_capacity(); }

ByteCount Session::PathView::train() const { return core_.path().gate.train(); }

Instant Session::PathView::unreported_since() const { return core_.path().probes.missing_since(); }

double Session::PathView::loss_ratio() const { return core_.path().loss_rate.ratio(); }

bool Session::PathView::knows_loss() const { return core_.path().loss_rate.known(); }

std::size_t Session::PathView::datagram_limit() const { return core_.datagram_limit(); }

std::uint64_t Session::PathView::packets_in_flight() const {
  return core_.path().probes.in_flight();
}

}  // namespace satrelay::stp
