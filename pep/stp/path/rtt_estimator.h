// Smoothed round-trip time (RFC 6298 section 2, without the timer: STP has no retransmission
// timeout). Packet numbers are never reused, so every sample is unambiguous.
#pragma once

#include <algorithm>
#include <optional>

#include "pep/base/time.h"

namespace satrelay::stp {

class RttEstimator {
 public:
  explicit RttEstimator(Duration initial) : smoothed_(initial), shortest_(initial) {}

  Duration smoothed() const { return smoothed_; }
  // nullopt while there are few samples: the first packets may have waited in a queue.
  std::optional<Duration> shortest() const {
    return samples_ >= kFewSamples ? std::optional(shortest_) : std::nullopt;
  }
  bool measured() const { return measured_; }
  void on_sample(Duration sample) {
    if (sample <= Duration::zero()) return;
    shortest_ = measured_ ? std::min(shortest_, sample) : sample;
    smoothed_ = measured_ ? (smoothed_ * 7 + sample) / 8 : sample;
    measured_ = true;
    if (samples_ < kFewSamples) ++samples_;
  }

 private:
  static constexpr unsigned kFewSamples = 8;

  Duration smoothed_;
  Duration shortest_;
  bool measured_ = false;
  unsigned samples_ = 0;  // counts up to kFewSamples
};

}  // namespace satrelay::stp
