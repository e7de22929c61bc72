// Sums amounts over about the last period: all of the previous period plus the current period so
// far. Two counters replace a list of events.
#pragma once

#include <algorithm>
#include <cstdint>

#include "pep/base/image/image.h"
#include "pep/base/time.h"

namespace satrelay {

class RecentCount {
 public:
  RecentCount() = default;
  explicit RecentCount(Instant begun) : begun_(begun) {}

  void add(std::uint64_t amount, Duration period, Instant now) {
    turn(period, now);
    current_ += amount;
  }
  std::uint64_t amount(Duration period, Instant now) {
    turn(period, now);
    return previous_ + current_;
  }
  // Returns amount() scaled to the length of one period. If nothing was added in the previous
  // period, returns the amount of the current period unscaled.
  std::uint64_t in_a_period(Duration period, Instant now) {
    const std::uint64_t counted = amount(period, now);
    if (previous_ == 0) return counted;
    const Duration over = period + (now - begun_);
    return static_cast<std::uint64_t>(static_cast<double>(counted) *
                                      (period.to_seconds() / over.to_seconds()));
  }
  // Removes up to `most` from the amount, from the previous period first. Returns how much it
  // removed.
  std::uint64_t take(std::uint64_t most, Duration period, Instant now) {
    const std::uint64_t taken = std::min(most, amount(period, now));
    const std::uint64_t old = std::min(taken, previous_);
    previous_ -= old;
    current_ -= taken - old;
    return taken;
  }

  void image(Image& image) { image(previous_, current_, begun_); }

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
