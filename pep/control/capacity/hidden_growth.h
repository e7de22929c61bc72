// Tracks growth of the delay that may be caused by a late machine or by a queue. The next samples
// that are not late show which one is the cause. If their delay is back at its earlier value, the
// machine was the cause. If the growth remains, there is a queue, which may be full by then and no
// longer grow.
#pragma once

#include <algorithm>
#include <optional>

#include "pep/base/time.h"
#include "pep/base/units.h"
#include "pep/control/capacity/delay_trend.h"
#include "pep/control/machine_excuse.h"

namespace satrelay::control {

class HiddenGrowth {
 public:
  explicit HiddenGrowth(const DelayTrend::Config& config)
      : growth_(config.least_growth), trend_(config) {}

  void clear() { suspect(std::nullopt); }
  // Suspects that the delay has grown from `low`. nullopt ends the suspicion.
  void suspect(std::optional<Duration> low) {
    low_ = low;
    first_.reset();
    trend_.clear();
  }
  // Takes a point, as DelayTrend::add() does.
  void add(DelayTrend::Point point) {
    const bool in_time = point.lateness <= PunctualSamples::kAllowed;
    point.lateness = Duration::zero();
    trend_.add(point);
    if (trend_.grows()) {
      const auto least = trend_.least_delay(point.sent, Duration::seconds(60));
      if (least) low_ = low_ ? std::min(*low_, *least) : *least;
    }
    if (!low_ || !in_time) return;
    if (point.certain_delay() < *low_ + growth_) return clear();
    if (!first_) first_ = point;
    newest_ = point;
  }
  // The delay before the suspected growth; nullopt without a suspicion.
  std::optional<Duration> low() const { return low_; }
  // Rate of arrival since the first point that was not late; nullopt if no queue is confirmed yet.
  std::optional<BitRate> arrival_rate() const {
    if (!first_ || newest_.arrived - first_->arrived < kLasts) return std::nullopt;
    return control::arrival_rate(*first_, newest_);
  }
  BitRate sending_rate() const {
    return first_ ? control::arrival_rate({{}, first_->sent, first_->received},
                                          {{}, newest_.sent, newest_.received})
                  : BitRate();
  }
  const DelayTrend::Point& newest() const { return newest_; }

 private:
  // The growth must last for this long before it counts as a queue. A late machine catches up in
  // less time.
  static constexpr Duration kLasts = Duration::milliseconds(100);
  Duration growth_;
  DelayTrend trend_;
  std::optional<Duration> low_;
  std::optional<DelayTrend::Point> first_;  // first punctual point since the suspicion
  DelayTrend::Point newest_;
};

}  // namespace satrelay::control
