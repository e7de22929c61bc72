// Smoothed round-trip time (RFC 6298 section 2, without its timer: STP has no retransmission
// timeout). Packet numbers are never reused, so every sample is unambiguous.
#pragma once

#include "pep/base/time.h"

namespace satrelay::stp {

class RttEstimator {
 public:
  explicit RttEstimator(Duration initial) : smoothed_(initial) {}

  Duration smoothed() const { return smoothed_; }
  bool measured() const { return measured_; }
  void on_sample(Duration sample) {
    if (sample <= Duration::zero()) return;
    smoothed_ = measured_ ? (smoothed_ * 7 + sample) / 8 : sample;
    measured_ = true;
  }

 private:
  Duration smoothed_;
  bool measured_ = false;
};

}  // namespace satrelay::stp
