// Decides when flows that lack memory try again: soon, but all flows together at most 10,000 times
// a second. The flows take turns: each flow tries once before any flow tries again.
#pragma once

#include <cstddef>
#include <cstdint>

#include "pep/base/time.h"

namespace satrelay::gateway {

class RetryPace {
 public:
  static constexpr Duration kGap = Duration::microseconds(100);

  explicit RetryPace(Duration wait) : wait_(wait) {}

  // `at` is the time at which a flow will try again. This function gives `at` an earlier value if
  // there is a free turn. `flows` is the number of flows that may take turns.
  void bring_forward(Instant& at, std::size_t flows, Instant now) {
    const Instant soonest = now + wait_;
    // If each flow has one turn, no turn is later than this. But `next_` may be later, since flows
    // that have ended leave their turns unused.
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
