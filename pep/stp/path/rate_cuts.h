// Counts how often the rate was cut, and for which cause. The operator sees these counts for each
// rate controller.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "pep/base/units.h"
#include "pep/control/rate_controller.h"

namespace satrelay::stp {

struct RateCut {
  control::CutCause cause{};
  BitRate from;
  BitRate to;
};

class RateCuts {
 public:
  // A session begins with this rate. If the last session had a higher rate, that is no cut.
  void begin(BitRate rate) { level_ = rate; }
  // `rate` is the current rate. If it is more than 5% below the previous rate, calls `cause()`,
  // which returns the cause of the cut, or nullopt if the change is no cut.
  template <typename Cause>
  void look(BitRate rate, Cause&& cause) {
    if (rate >= level_) {
      level_ = rate;
      return;
    }
    if (rate >= level_.scaled(95, 100)) return;
    if (const std::optional<control::CutCause> why = cause()) {
      last_ = RateCut{*why, level_, rate};
      ++counts_[static_cast<std::size_t>(*why)];
    }
    level_ = rate;
  }
  std::uint64_t count(control::CutCause cause) const {
    return counts_[static_cast<std::size_t>(cause)];
  }
  const std::optional<RateCut>& last() const { return last_; }

 private:
  BitRate level_;
  std::array<std::uint64_t, control::kCutCauses> counts_{};
  std::optional<RateCut> last_;
};

}  // namespace satrelay::stp
