#include "pep/control/new_reno.h"

#include <algorithm>
#include <limits>

namespace satrelay::control {
NewReno::NewReno(std::uint32_t segment_size)
    : segment_(std::max<std::uint64_t>(segment_size, 1)),
      initial_(initial_window(segment_)),
      window_(initial_),
      threshold_(kNoThreshold) {}

void NewReno::on_ack(const AckSample& sample) {
  if (sample.in_recovery || sample.newly_acknowledged == 0) return;
  // An ACK says nothing about the path if the window was not full (RFC 7661). Half of the window in
  // flight is enough here, because an endpoint may get a burst of ACKs before it sends again.
  if (!after_timeout_ && sample.bytes_in_flight * 2 < window_) return;
  if (window_ < threshold_) {
    // RFC 3465 section 2.3: after a timeout, one ACK counts as at most two segments, because it may
    // cover much data that arrived long before.
    const std::uint64_t most = after_timeout_ ? 2 * segment_ : sample.newly_acknowledged;
    grow_slow_start(std::min(sample.newly_acknowledged, most));
  } else {
    after_timeout_ = false;
    grow_avoidance(sample.newly_acknowledged);
  }
}

void NewReno::grow_slow_start(std::uint64_t bytes) {
  const std::uint64_t grown = std::min({window_ + bytes, threshold_, kLargestWindow});
  const std::uint64_t rest = bytes - (grown - window_);
  window_ = grown;
  if (rest > 0 && window_ >= threshold_) grow_avoidance(rest);
}

void NewReno::grow_avoidance(std::uint64_t bytes) {
  credit_ += bytes;
  if (credit_ < window_) return;
  credit_ -= window_;
  credit_ = std::min(credit_, window_);
  window_ = std::min(window_ + segment_, kLargestWindow);
}

std::uint64_t NewReno::halved(std::uint64_t flight) const {
  return std::max(flight / 2, 2 * segment_);
}

void NewReno::on_loss(const LossSample& sample) {
  threshold_ = halved(sample.bytes_in_flight);
  window_ = threshold_;
  credit_ = 0;
  after_timeout_ = false;
}

void NewReno::on_recovery_exit(Instant) { window_ = std::min(window_, threshold_); }

void NewReno::on_timeout(const LossSample& sample) {
  threshold_ = halved(sample.bytes_in_flight);
  window_ = segment_;
  credit_ = 0;
  after_timeout_ = true;
}

void NewReno::on_idle_restart() { window_ = std::min(window_, initial_); }

void NewReno::set_segment_size(std::uint32_t segment_size) {
  segment_ = std::max<std::uint64_t>(segment_size, 1);
  initial_ = initial_window(segment_);
}

}  // namespace satrelay::control
