// Follows a rate that changes now and then. Reports a new value once the rate has stayed near it
// for some time.
#pragma once

#include <optional>

#include "pep/base/time.h"
#include "pep/base/units.h"

namespace satrelay::ops {

class SteadyRate {
 public:
  // How long a rate must stay within a tenth of a new value until that value is reported.
  static constexpr Duration kSteadyAfter = Duration::seconds(2);

  struct Change {
    BitRate before;  // zero: nothing was reported yet
    BitRate after;
  };
  // If `value` is zero, the rate is not known, which is not reported as a change. Returns nullopt
  // if there is nothing to report.
  std::optional<Change> look(BitRate value, Instant now);

 private:
  BitRate told_;
  BitRate moved_to_;
  Instant moved_at_;
};

}  // namespace satrelay::ops
