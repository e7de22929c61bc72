// Measures the rate of arrival if reports are too rare to measure a train. A mode can then raise
// its rate until a queue or loss appears.
#pragma once

#include <optional>

#include "pep/base/units.h"
#include "pep/control/capacity/finder/link_model.h"
#include "pep/control/rate_controller.h"

namespace satrelay::control {

class RareReports {
 public:
  // Call when a train has a result.
  void on_finding() { missed_ = 0; }
  // Call when a train has no result. If kMostMissed trains in a row have no result and reports are
  // rare, returns the rate of arrival since the last call that returned a rate. Otherwise returns
  // nullopt.
  std::optional<BitRate> on_miss(const FeedbackSample& sample) {
    if (++missed_ < kMostMissed || sample.interval < kRareReports) return std::nullopt;
    missed_ = 0;
    const DelayTrend::Point now = point_of(sample);
    const BitRate arrived = arrival_rate(from_, now);
    from_ = now;
    return arrived;
  }

 private:
  static constexpr int kMostMissed = 3;
  int missed_ = 0;  // trains in a row that have no result
  DelayTrend::Point from_;
};

}  // namespace satrelay::control
