// A rate that moves now and then: what it has come to, once it has stayed there for a time.
#pragma once

#include <optional>

#include "pep/base/time.h"
#include "pep/base/units.h"

namespace satrelay::ops {

class SteadyRate {
 public:
  // It stays where it is while it moves by no more than a tenth.
  static constexpr Duration kSteadyAfter = Duration::seconds(2);

  struct Change {
    BitRate before;  // zero: nothing was told yet
    BitRate after;
  };
  // Zero: it is not known, which is no change. nullopt: nothing new.
  std::optional<Change> look(BitRate value, Instant now);

 private:
  BitRate told_;
  BitRate moved_to_;
  Instant moved_at_;
};

}  // namespace satrelay::ops
