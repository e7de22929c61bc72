// Seeded pseudo-random numbers (SplitMix64): the same seed gives the same run on every machine. Do
// not use them for keys. Keys need the random bytes of Entropy.
#pragma once

#include <cstdint>

#include "pep/base/int128.h"

namespace satrelay {

class Random {
 public:
  constexpr explicit Random(std::uint64_t seed) : state_(seed) {}

  constexpr std::uint64_t next() {
    std::uint64_t z = (state_ += 0x9E3779B97F4A7C15U);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9U;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBU;
    return z ^ (z >> 31);
  }
  // Uniform in [0, bound); `bound` must be positive.
  constexpr std::uint64_t below(std::uint64_t bound) {
    return static_cast<std::uint64_t>((static_cast<Uint128>(next()) * bound) >> 64);
  }
  // Uniform in [0, 1).
  constexpr double unit() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }
  constexpr bool chance(double probability) { return unit() < probability; }

 private:
  std::uint64_t state_;
};

}  // namespace satrelay
