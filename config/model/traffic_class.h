// What the rates of classes must be to make sense.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "config/model/schema.h"

namespace satrelay::config {

// What rules give no class is in one of these, which no other class may be called.
inline constexpr const char* kRelayedName = "relayed";
inline constexpr const char* kBridgedName = "bridged";

// Of a link, at most, bridged_share included: what is left keeps all else alive.
inline constexpr std::uint64_t kMostGuaranteedPercent = 95;
// A link without bridged_share keeps this share for what has no class.
inline constexpr double kKeptShare = 0.1;

inline BitRate share_of(BitRate rate, double share) {
  return rate.scaled(static_cast<std::uint64_t>(std::lround(share * 1000)), 1000);
}
// Zero: nothing.
inline BitRate bridged_guarantee(const Link& link, BitRate rate) {
  return share_of(rate, link.bridged_share.value_or(0));
}

inline bool guarantees_fit(const std::vector<TrafficClass>& classes, const Link& link) {
  std::uint64_t sum =
      share_of(link.send_rate, link.bridged_share.value_or(kKeptShare)).to_bits_per_second();
  for (const TrafficClass& each : classes) sum += each.guaranteed.to_bits_per_second();
  return sum <= link.send_rate.scaled(kMostGuaranteedPercent, 100).to_bits_per_second();
}

// Not the maximum less than what is guaranteed.
inline bool rates_agree(const TrafficClass& c) {
  return c.maximum.is_zero() || c.maximum >= c.guaranteed;
}

}  // namespace satrelay::config
