// Follows a rate that changes from time to time. Reports a new value once the rate has stayed near
// that value for some time.
#pragma once

#include <optional>

#include "pep/base/time.h"
#include "pep/base/units.h"

namespace satrelay::ops {

class SteadyRate {
 public:
  // A new value is reported once the rate has stayed within a tenth of the value for this long.
  static constexpr Duration kSteadyAfter = Duration::seconds(2);

  struct Change {
    BitRate before;  // zero if no rate was reported before
    BitRate after;
  };
  // Pass zero if the rate is not known. Returns nullopt if there is no new rate to report.
  std::optional<Change> look(BitRate value, Instant now);

 private:
  BitRate told_;
  BitRate moved_to_;
  Instant moved_at_;
};

}  // namespace satrelay::ops
