// Unwraps truncated sequence numbers to 64 bits as soon as they are parsed. Modular comparison of
// truncated numbers is not transitive, while comparison of 64-bit offsets is.
#pragma once

#include <cstdint>

namespace satrelay {

// Returns the value nearest to `reference` among all 64-bit values that end in the low `Bits` bits
// of `truncated`.
template <unsigned Bits>
constexpr std::uint64_t unwrap_sequence(std::uint64_t truncated, std::uint64_t reference) {
  static_assert(Bits > 0 && Bits < 64);
  constexpr std::uint64_t kSpan = std::uint64_t{1} << Bits;
  constexpr std::uint64_t kMask = kSpan - 1;
  const std::uint64_t delta = (truncated - reference) & kMask;
  if (delta < kSpan / 2) return reference + delta;
  const std::uint64_t back = kSpan - delta;
  return back <= reference ? reference - back : reference + delta;
}

}  // namespace satrelay
