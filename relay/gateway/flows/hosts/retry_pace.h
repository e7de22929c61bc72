// When flows for which memory is short try again: soon, but together no more than so many in a
// second, however many they are. They do so one after the other, each once until all had a try.
#pragma once

#include <cstddef>
#include <cstdint>

#include "pep/base/time.h"

namespace satrelay::gateway {

class RetryPace {
 public:
  static constexpr Duration kGap = Duration::microseconds(100);

  explicit RetryPace(Duration wait) : wait_(wait) {}

  // Makes `at`, when one of `flows` tries again, earlier if that is possible.
  void bring_forward(Instant& at, std::size_t flows, Instant now) {
    const Instant soonest = now + wait_;
    // Places of flows that are gone meanwhile are nobody's.
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
