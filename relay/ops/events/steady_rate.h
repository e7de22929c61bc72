// Follows a rate that changes now and then: reports its new value once it has stayed there for a
// time.
#pragma once

#include <optional>

#include "pep/base/time.h"
#include "pep/base/units.h"

namespace satrelay::ops {

class SteadyRate {
 public:
  // The rate counts as steady while it changes by no more than a tenth.
  static constexpr Duration kSteadyAfter = Duration::seconds(2);

  struct Change {
    BitRate before;  // zero: nothing was reported yet
    BitRate after;
  };
  // `value` zero: the rate is not known, which is not a change. Returns nullopt if nothing is to be
  // reported.
  std::optional<Change> look(BitRate value, Instant now);

 private:
  BitRate told_;
  BitRate moved_to_;
  Instant moved_at_;
};

}  // namespace satrelay::ops
