// A time in which a counter grows that ought to stand still: when it has begun, and when it is
// over.
#pragma once

#include <cstdint>

#include "pep/base/time.h"

namespace satrelay::ops {

class Episode {
 public:
  struct Bounds {
    Duration begins_after;  // it has grown for so long, without a longer pause than `pause`
    Duration pause;
    Duration over_after;  // it has not grown for so long
  };
  enum class Change : std::uint8_t { kNone, kBegun, kOver };
  explicit Episode(Bounds bounds) : bounds_(bounds) {}

  Change look(std::uint64_t value, Instant now);

  // Of the one that goes on, or was just over.
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
