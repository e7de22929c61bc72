// The compilers' 128-bit integer, which ISO C++ lacks.
#pragma once

#include <cstdint>

namespace satrelay {

__extension__ using Uint128 = unsigned __int128;

// Returns numerator / denominator. The result must fit in 64 bits. If the numerator fits in 64
// bits, as most do, the function uses a 64-bit division, which is several times faster.
constexpr std::uint64_t quotient(Uint128 numerator, std::uint64_t denominator) {
  const auto low = static_cast<std::uint64_t>(numerator);
  if (numerator == low) return low / denominator;
  return static_cast<std::uint64_t>(numerator / denominator);
}

}  // namespace satrelay
