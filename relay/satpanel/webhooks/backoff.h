// Computes the wait between tries. It grows with each try and is partly random, so that several
// senders to one receiver do not try at the same time.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>

#include "pep/base/random.h"

namespace satrelay::panel {

class Backoff {
 public:
  static constexpr std::chrono::milliseconds kFirst{1000};
  static constexpr std::chrono::milliseconds kLongest{300'000};
  // The longest wait that a receiver can ask for (Retry-After).
  static constexpr std::chrono::milliseconds kMostAskedFor{3'600'000};

  explicit Backoff(std::uint64_t seed) : random_(seed) {}

  void reset() { next_ = kFirst; }
  // Returns the next wait: a random time between 50% and 100% of 1 s, 2 s, 4 s, and so on up to 300
  // s. If the receiver asks for a longer wait, returns that wait, but at most kMostAskedFor.
  std::chrono::milliseconds wait(std::optional<std::chrono::milliseconds> asked_for) {
    const auto half = next_ / 2;
    const auto spread = static_cast<std::uint64_t>(half.count()) + 1;
    const auto jittered = half + std::chrono::milliseconds(random_.below(spread));
    next_ = std::min(next_ * 2, kLongest);
    return asked_for ? std::max(jittered, std::min(*asked_for, kMostAskedFor)) : jittered;
  }

 private:
  Random random_;
  std::chrono::milliseconds next_ = kFirst;
};

}  // namespace satrelay::panel
