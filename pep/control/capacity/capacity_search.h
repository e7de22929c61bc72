// What those who look for a link's capacity have in common: the guard of one that was told, and the
// finder of one that was not.
#pragma once

#include <cstdint>

#include "pep/base/time.h"
#include "pep/base/units.h"

namespace satrelay::control {

inline constexpr BitRate kLeastCapacity = BitRate::bits_per_second(1'000);
// While the queue drains, packets still show how far it is.
inline constexpr std::uint64_t kTrickle = 16;
inline constexpr Duration kMeasureAtLeast = Duration::milliseconds(50);
// Who sends less than this part of what the link carries cannot tell that it carries less.
inline constexpr std::uint64_t kIdleShare = 16;
inline constexpr Duration kRttMemory = Duration::seconds(10);

}  // namespace satrelay::control
