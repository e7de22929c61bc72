#include "pep/control/cubic.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace satrelay::control {
namespace {

constexpr double kC = 0.4;     // section 5.1
constexpr double kBeta = 0.7;  // section 4.6
// Section 4.3: with this growth and CUBIC's reduction, the average window equals Reno's.
constexpr double kAlpha = 3 * (1 - kBeta) / (1 + kBeta);
constexpr double kMostGrowth = 1.5;  // limit on growth in a round trip, section 4.2

}  // namespace

Cubic::Cubic(std::uint32_t segment_size)
    : segment_(std::max<std::uint64_t>(segment_size, 1)),
      initial_(initial_window(segment_)),
      window_(initial_),
      threshold_(kNoThreshold) {}

void Cubic::on_ack(const AckSample& sample) {
  if (sample.in_recovery || sample.newly_acknowledged == 0) return;
  // An ACK says nothing about the path if the window was not full (section 5.8). Half of the window
  // in flight is enough here, because an endpoint may get a burst of ACKs before it sends again.
  if (!after_timeout_ && sample.bytes_in_flight * 2 < window_) {
    last_ack_ = Instant::never();
    return;
  }
  std::uint64_t bytes = sample.newly_acknowledged;
  if (window_ < threshold_) {
    // RFC 3465 section 2.3: after a timeout, one ACK counts as at most two segments, because it may
    // cover much data that arrived long before.
    const std::uint64_t most = after_timeout_ ? 2 * segment_ : bytes;
    const std::uint64_t step = std::min({bytes, most, threshold_ - window_});
    window_ = std::min(window_ + step, kLargestWindow);
    if (window_ < threshold_) return;
    bytes = std::min(bytes, most) - step;
  }
  after_timeout_ = false;
  if (!epoch_.begun) begin_epoch();
  // The cubic depends only on the time in which the window was in use (section 5.8).
  if (!last_ack_.is_never()) epoch_.length = epoch_.length + (sample.now - last_ack_);
  last_ack_ = sample.now;
  if (bytes > 0) grow_avoidance(bytes, sample.smoothed_rtt);
}

void Cubic::begin_epoch() {
  epoch_ = Epoch{};
  epoch_.begun = true;
  last_ack_ = Instant::never();
  const double current = segments(window_);
  // If there is no W_max, as after a timeout (section 4.8), the stage begins on the plateau of the
  // cubic.
  epoch_.origin = std::max(segments(largest_window_), current);
  epoch_.k = std::cbrt((epoch_.origin - current) / kC);
  epoch_.friendly = current;
}

void Cubic::grow_avoidance(std::uint64_t bytes, Duration rtt) {
  const auto curve = [&](Duration at) {
    const double distance = static_cast<double>(at.to_nanoseconds()) / 1e9 - epoch_.k;
    return kC * distance * distance * distance + epoch_.origin;
  };
  const double current = segments(window_);
  const double acknowledged = segments(bytes);
  const double alpha = epoch_.friendly >= segments(prior_window_) ? 1.0 : kAlpha;
  epoch_.friendly += alpha * acknowledged / current;

  double growth = 0;  // segments
  if (curve(epoch_.length) < epoch_.friendly) {
    growth = std::max(epoch_.friendly - current, 0.0);
  } else {
    const double target = std::clamp(curve(epoch_.length + rtt), current, kMostGrowth * current);
    growth = (target - current) / current * acknowledged;
  }
  credit_ += growth * static_cast<double>(segment_);
  const auto whole = static_cast<std::uint64_t>(credit_);
  credit_ -= static_cast<double>(whole);
  window_ = std::min(window_ + whole, kLargestWindow);
}

std::uint64_t Cubic::reduced(std::uint64_t flight) const {
  return std::max(static_cast<std::uint64_t>(static_cast<double>(flight) * kBeta), 2 * segment_);
}

void Cubic::on_loss(const LossSample& sample) {
  prior_window_ = window_;
  // Fast convergence (section 4.7): a flow with a shrinking window leaves bandwidth to new flows.
  largest_window_ = window_ < largest_window_
                        ? static_cast<std::uint64_t>(static_cast<double>(window_) * (1 + kBeta) / 2)
                        : window_;
  threshold_ = reduced(sample.bytes_in_flight);
  window_ = threshold_;
  credit_ = 0;
  epoch_.begun = false;
  after_timeout_ = false;
}

void Cubic::on_recovery_exit(Instant) { window_ = std::min(window_, threshold_); }

void Cubic::on_timeout(const LossSample& sample) {
  prior_window_ = window_;
  largest_window_ = 0;
  threshold_ = reduced(sample.bytes_in_flight);
  window_ = segment_;
  credit_ = 0;
  epoch_.begun = false;
  after_timeout_ = true;
}

void Cubic::on_idle_restart() {
  window_ = std::min(window_, initial_);
  last_ack_ = Instant::never();
}

void Cubic::set_segment_size(std::uint32_t segment_size) {
  // The epoch counts segments of the old size, so a new epoch begins. The window in bytes stays the
  // same.
  segment_ = std::max<std::uint64_t>(segment_size, 1);
  initial_ = initial_window(segment_);
  epoch_.begun = false;
}

}  // namespace satrelay::control
