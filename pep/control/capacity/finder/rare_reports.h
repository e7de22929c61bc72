// Measures what arrives if reports are too rare to show a train. The rate then grows until it makes
// a queue, or loss.
#pragma once

#include <optional>

#include "pep/base/units.h"
#include "pep/control/capacity/finder/link_model.h"
#include "pep/control/rate_controller.h"

namespace satrelay::control {

class RareReports {
 public:
  // A train has shown something.
  void on_finding() { missed_ = 0; }
  // A train has shown nothing. Returns the rate that has arrived since the last such rate, if
  // reports are rare and enough trains have shown nothing.
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
  int missed_ = 0;  // trains in a row
  DelayTrend::Point from_;
};

}  // namespace satrelay::control
