// What the rates of classes must be to make sense.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "config/schema.h"

namespace satrelay::config {

// What rules give no class is in one of these, which no other class may be called.
inline constexpr const char* kRelayedName = "relayed";
inline constexpr const char* kBridgedName = "bridged";

// Of a link, at most, bridged_share included: what is left keeps all else alive.
inline constexpr std::uint64_t kMostGuaranteedPercent = 95;

inline BitRate bridged_guarantee(const Link& link, BitRate rate) {
  return rate.scaled(static_cast<std::uint64_t>(std::lround(link.bridged_share * 1000)), 1000);
}

inline bool guarantees_fit(const std::vector<TrafficClass>& classes, const Link& link) {
  std::uint64_t sum = bridged_guarantee(link, link.send_rate).to_bits_per_second();
  for (const TrafficClass& each : classes) sum += each.guaranteed.to_bits_per_second();
  return sum <= link.send_rate.scaled(kMostGuaranteedPercent, 100).to_bits_per_second();
}

// Not the maximum less than what is guaranteed.
inline bool rates_agree(const TrafficClass& c) {
  return c.maximum.is_zero() || c.maximum >= c.guaranteed;
}

}  // namespace satrelay::config
