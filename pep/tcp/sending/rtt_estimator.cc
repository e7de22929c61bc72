#include "pep/tcp/sending/rtt_estimator.h"

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
  rto_ = std::min(smoothed_ + std::max(limits.minimum, variance_ * 4), limits.maximum);
}

void RttEstimator::back_off(const Limits& limits) { rto_ = std::min(rto_ * 2, limits.maximum); }

void RttEstimator::distrust_initial(const Limits& limits) {
  if (has_sample()) return;
  rto_ = std::max(limits.initial, Duration::seconds(3));
}

}  // namespace satrelay::tcp
