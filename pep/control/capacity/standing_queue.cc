#include "pep/control/capacity/standing_queue.h"

#include <algorithm>

namespace satrelay::control {
namespace {

// Two clocks drift apart by 1 / kDrift at most (100 ppm).
constexpr std::int64_t kDrift = 10'000;

}  // namespace

void StandingQueue::add(const DelayTrend::Point& point, Duration span) {
  const Duration delay = point.delay();
  if (!known_) {
    known_ = true;
    path_ = least_ = least_before_ = delay;
    path_seen_ = span_began_ = point.arrived;
    return;
  }
  path_ = std::min(delay, path_ + (point.arrived - path_seen_) / kDrift);
  path_seen_ = point.arrived;
  if (point.arrived - span_began_ >= span) {
    least_before_ = least_;
    least_ = delay;
    span_began_ = point.arrived;
  }
  least_ = std::min(least_, delay);
  length_ = std::max(std::min(least_, least_before_) - path_, Duration::zero());
}

}  // namespace satrelay::control
