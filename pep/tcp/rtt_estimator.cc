#include "pep/tcp/rtt_estimator.h"

#include <algorithm>

namespace satrelay::tcp {

void RttEstimator::sample(Duration rtt, const Limits& limits) {
  rtt = std::max(rtt, Duration::microseconds(1));  // zero means "no sample"
  if (!has_sample()) {
    smoothed_ = rtt;
    variance_ = rtt / 2;
  } else {
    const Duration error = rtt > smoothed_ ? rtt - smoothed_ : smoothed_ - rtt;
    variance_ = (variance_ * 3 + error) / 4;
    smoothed_ = (smoothed_ * 7 + rtt) / 8;
  }
  base_ = std::min(smoothed_ + std::max(limits.minimum, variance_ * 4), limits.maximum);
  rto_ = Duration::zero();
}

void RttEstimator::back_off(const Limits& limits) { rto_ = std::min(rto() * 2, limits.maximum); }

void RttEstimator::distrust_initial(const Limits& limits) {
  if (has_sample()) return;
  base_ = std::max(limits.initial, Duration::seconds(3));
  rto_ = Duration::zero();
}

}  // namespace satrelay::tcp
