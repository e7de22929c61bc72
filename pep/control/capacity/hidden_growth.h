// Growth of the delay that either a late machine or a queue may explain. Samples that are in time
// again decide. If their delay is back to what it was, it was the machine. If the growth stays,
// there is a queue, which may have filled meanwhile and no longer grow.
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
  // Suspects that the delay has grown from `low`. nullopt: no suspicion.
  void suspect(std::optional<Duration> low) {
    low_ = low;
    first_.reset();
    trend_.clear();
  }
  // As DelayTrend::add().
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
  // The delay before the suspected growth.
  std::optional<Duration> low() const { return low_; }
  // Rate of arrival while the queue is there; nullopt if no queue is known.
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
  // Longer than the lateness of a machine that begins to catch up.
  static constexpr Duration kLasts = Duration::milliseconds(100);
  Duration growth_;
  DelayTrend trend_;
  std::optional<Duration> low_;
  std::optional<DelayTrend::Point> first_;  // the first point in time since then
  DelayTrend::Point newest_;
};

}  // namespace satrelay::control
