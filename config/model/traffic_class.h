// Checks of the rates of traffic classes, and the names of the two classes that always exist.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "config/model/schema.h"

namespace satrelay::config {

// The classes of connections and packets that no rule gives a class. No other class may have these
// names.
inline constexpr const char* kRelayedName = "relayed";
inline constexpr const char* kBridgedName = "bridged";

// Maximum percentage of a link for all guarantees together, including `bridged_share`. The
// remaining rate keeps other traffic from starving.
inline constexpr std::uint64_t kMostGuaranteedPercent = 95;
// If a link has no `bridged_share`, the guarantees must leave this share to traffic without a
// class.
inline constexpr double kKeptShare = 0.1;

inline BitRate share_of(BitRate rate, double share) {
  return rate.scaled(static_cast<std::uint64_t>(std::lround(share * 1000)), 1000);
}
// The rate that is guaranteed to bridged frames; zero if there is no guarantee.
inline BitRate bridged_guarantee(const Link& link, BitRate rate) {
  return share_of(rate, link.bridged_share.value_or(0));
}

inline bool guarantees_fit(const std::vector<TrafficClass>& classes, const Link& link) {
  std::uint64_t sum =
      share_of(link.send_rate, link.bridged_share.value_or(kKeptShare)).to_bits_per_second();
  for (const TrafficClass& each : classes) sum += each.guaranteed.to_bits_per_second();
  return sum <= link.send_rate.scaled(kMostGuaranteedPercent, 100).to_bits_per_second();
}

// Whether the maximum, if there is one, is at least the guaranteed rate.
inline bool rates_agree(const TrafficClass& c) {
  return c.maximum.is_zero() || c.maximum >= c.guaranteed;
}

}  // namespace satrelay::config
