// Retransmission timeout (RFC 6298). As in common host stacks, the lower bound applies to the
// variance term instead of the sum. Otherwise a peer that delays its ACKs by exactly the minimum
// would cause a timeout each time.
#pragma once

#include "pep/base/image/image.h"
#include "pep/base/time.h"

namespace satrelay::tcp {

class RttEstimator {
 public:
  struct Limits {
    Duration minimum;
    Duration maximum;
    Duration initial;
  };
  // The limits must be the same in all calls.
  explicit RttEstimator(const Limits& limits) : rto_(limits.initial) {}

  // Takes a sample. A sample from a retransmitted segment is allowed only if it was measured with
  // timestamps (Karn's algorithm). A sample ends any backoff.
  void sample(Duration rtt, const Limits& limits);
  void back_off(const Limits& limits);
  // RFC 6298 section 5.7: the handshake itself timed out, so the path is slower than assumed.
  void distrust_initial(const Limits& limits);

  Duration rto() const { return rto_; }
  Duration smoothed() const { return smoothed_; }  // zero before the first sample
  bool has_sample() const { return smoothed_ > Duration::zero(); }

  void image(Image& image) { image(rto_, smoothed_, variance_); }

 private:
  Duration rto_;  // includes the backoff
  Duration smoothed_;
  Duration variance_;
};

}  // namespace satrelay::tcp
