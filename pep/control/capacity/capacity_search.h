// Constants and arithmetic of the search for a link's capacity. The guard uses them if the capacity
// was announced, and the finder if it was not.
#pragma once

#include <algorithm>
#include <cstdint>

#include "pep/base/time.h"
#include "pep/base/units.h"

namespace satrelay::control {

inline constexpr BitRate kLeastCapacity = BitRate::bits_per_second(1'000);
// While the queue drains, 1 / kTrickle of the found rate is sent, so that packets still show how
// long the queue is.
inline constexpr std::uint64_t kTrickle = 16;
inline constexpr Duration kMeasureAtLeast = Duration::milliseconds(50);
// A sender with a rate below 1 / kIdleShare of the capacity cannot tell whether the link carries
// less.
inline constexpr std::uint64_t kIdleShare = 16;

inline double bits(BitRate rate) { return static_cast<double>(rate.to_bits_per_second()); }
// Converts bits per second to a rate. A negative number becomes zero.
inline BitRate rate_of(double bits) {
  return BitRate::bits_per_second(static_cast<std::uint64_t>(std::max(bits, 0.0)));
}

}  // namespace satrelay::control
