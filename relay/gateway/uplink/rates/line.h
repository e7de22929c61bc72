// One lane as the uplink knows it: its links, its session, and the limits of its rate.
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
  Carrier& carrier;  // of the first link: the session has its pacer
  stp::Session& session;
  std::uint16_t datagram_overhead = 0;
  unsigned lanes = 1;      // to its peer, of all workers
  BitRate most_rate = {};  // the operator's limit; zero: none
  BitRate capacity = {};   // the least of all limits, as last applied
  // `capacity` if it is below the carrier's; else zero.
  BitRate limit = {};
  std::uint64_t sent = 0;  // bytes, as the carrier counts them
  // By its controller, as last applied; zero: not known.
  BitRate allowed = {};
  // Whether its controller has found the capacity, as last applied.
  bool has_found = false;

  bool uses(const Carrier& carrier_of_link) const {
    return std::ranges::find(links, carrier_of_link.id) != links.end();
  }
  // Sets the capacity of the session: the least of the configured rate, the operator's limits for
  // the link and for the peer, and the rate that the peer has announced. Also notes the rate that
  // the session's controller has found.
  void apply_limits();
  // True if the session's controller has found that the link carries another rate than `allowed`.
  // For carriers whose capacity is found.
  bool has_other_rate() const;
  // The rate without a share: each lane has an equal part of its peer's limit.
  BitRate fallback() const { return limit.scaled(1, lanes); }

 private:
  BitRate allowed_by_controller() const;
};

}  // namespace satrelay::gateway
