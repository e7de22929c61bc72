// How much there was in about the last period: all of the period before the current one, and what
// the current one has brought. Two words instead of a list of events.
#pragma once

#include <cstdint>

#include "pep/base/time.h"

namespace satrelay {

class RecentCount {
 public:
  void add(std::uint64_t amount, Duration period, Instant now) {
    turn(period, now);
    current_ += amount;
  }
  std::uint64_t amount(Duration period, Instant now) {
    turn(period, now);
    return previous_ + current_;
  }

 private:
  void turn(Duration period, Instant now) {
    if (now < begun_ + period) return;
    previous_ = now < begun_ + period * 2 ? current_ : 0;
    current_ = 0;
    begun_ = now;
  }
  std::uint64_t previous_ = 0;
  std::uint64_t current_ = 0;
  Instant begun_;
};

}  // namespace satrelay
