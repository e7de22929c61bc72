// A lane as a part of the uplink: its links, its session, and the limits of its rate.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "pep/base/units.h"
#include "pep/stp/session.h"
#include "relay/gateway/ids.h"
#include "relay/gateway/uplink/carrier.h"

namespace satrelay::gateway {

struct Line {
  std::span<const LinkId> links;
  Carrier& carrier;  // carrier of the first link; the session uses the carrier's pacer
  stp::Session& session;
  std::uint16_t datagram_overhead = 0;
  unsigned lanes = 1;      // number of lanes to the peer at all workers
  BitRate most_rate = {};  // the operator's limit; zero if there is none
  BitRate capacity = {};   // the lowest of all limits at the last apply_limits()
  // `capacity` if it is below the carrier's capacity; otherwise zero.
  BitRate limit = {};
  std::uint64_t sent = 0;  // bytes, as the carrier counts them
  // The rate that the session's controller allowed at the last apply_limits(); zero if the
  // controller had no estimate.
  BitRate allowed = {};
  // Whether the controller had found the capacity at the last apply_limits().
  bool has_found = false;

  bool uses(const Carrier& carrier_of_link) const {
    return std::ranges::find(links, carrier_of_link.id) != links.end();
  }
  // Sets the capacity of the session: the lowest of the configured rate, the operator's limits for
  // the link and for the peer, and the rate that the peer has announced. Also updates `allowed` and
  // `has_found`.
  void apply_limits();
  // Whether the session's controller has found that the link carries another rate than `allowed`.
  // Call this only for carriers that find their capacity.
  bool has_other_rate() const;
  // The limit of the lane while this worker has no share: an equal part of the peer's limit.
  BitRate fallback() const { return limit.scaled(1, lanes); }

 private:
  BitRate allowed_by_controller() const;
};

}  // namespace satrelay::gateway
