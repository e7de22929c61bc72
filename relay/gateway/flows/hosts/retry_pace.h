// Decides when flows try again for which memory is short: soon, but all together at most 10,000
// times a second. They take turns: each tries once until all have tried.
#pragma once

#include <cstddef>
#include <cstdint>

#include "pep/base/time.h"

namespace satrelay::gateway {

class RetryPace {
 public:
  static constexpr Duration kGap = Duration::microseconds(100);

  explicit RetryPace(Duration wait) : wait_(wait) {}

  // `at` is when one of `flows` tries again. Makes it earlier if that is possible.
  void bring_forward(Instant& at, std::size_t flows, Instant now) {
    const Instant soonest = now + wait_;
    // Flows that have gone leave their places in the order unused, so no flow needs a later place
    // than this.
    const Instant latest = soonest + kGap * static_cast<std::int64_t>(flows);
    const Instant place = earlier(later(soonest, next_), latest);
    if (place >= at) return;
    at = place;
    next_ = place + kGap;
  }

 private:
  Duration wait_;
  Instant next_;
};

}  // namespace satrelay::gateway
