// Watches a counter that normally does not grow. Finds the episodes of growth: reports when an
// episode begins and when it is over.
#pragma once

#include <cstdint>

#include "pep/base/time.h"

namespace satrelay::ops {

class Episode {
 public:
  struct Bounds {
    // An episode begins once the counter has grown for this long without a pause longer than
    // `pause`.
    Duration begins_after;
    Duration pause;
    Duration over_after;  // an episode is over once the counter has not grown for this long
  };
  enum class Change : std::uint8_t { kNone, kBegun, kOver };
  explicit Episode(Bounds bounds) : bounds_(bounds) {}

  Change look(std::uint64_t value, Instant now);

  // The growth and the length of the present episode, or of the episode that has just ended.
  std::uint64_t grown() const { return value_ - value_before_; }
  Duration lasted() const { return grew_at_ - began_; }

 private:
  Bounds bounds_;
  std::uint64_t value_ = 0;
  std::uint64_t value_before_ = 0;
  Instant began_;
  Instant grew_at_;
  bool is_growing_ = false;
  bool has_begun_ = false;
};

}  // namespace satrelay::ops
