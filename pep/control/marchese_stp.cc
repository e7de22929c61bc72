#include "pep/control/marchese_stp.h"

#include <algorithm>

#include "pep/control/paced_rate.h"

namespace satrelay::control {
namespace {

// Larger than any path needs; keeps the arithmetic far from overflow.
constexpr std::uint64_t kWindowLimit = std::uint64_t{1} << 40;

}  // namespace

void MarcheseStp::on_start(const StartSample& sample) {
  packet_ = sample.packet;
  rtt_ = sample.rtt;
  report_interval_ = Duration::zero();
  window_ = config_.initial_window * packet_.value();
  acknowledged_ = 0;
}

void MarcheseStp::on_feedback(const FeedbackSample& sample) {
  if (sample.rtt > Duration::zero()) rtt_ = (rtt_ * 7 + sample.rtt) / 8;
  if (sample.interval < rtt_) report_interval_ = (report_interval_ * 7 + sample.interval) / 8;
  const bool slow_start =
      config_.threshold == 0 || window_ < std::uint64_t{config_.threshold} * packet_.value();
  if (slow_start) {
    window_ += sample.packets_delivered * config_.growth * packet_.value();
  } else {
    acknowledged_ += sample.newly_delivered.value();
    const std::uint64_t rounds = acknowledged_ / window_;
    acknowledged_ -= rounds * window_;
    window_ += rounds * config_.avoidance * packet_.value();
  }
  window_ = std::min(window_, kWindowLimit);
}

BitRate MarcheseStp::rate() const {
  return std::max(paced_rate(config_.capacity), BitRate::bits_per_second(1'000));
}

ByteCount MarcheseStp::window() const {
  ByteCount buffer = config_.buffer;
  if (buffer == ByteCount(0)) {
    buffer = ByteCount(2 * config_.capacity.bytes_in(rtt_ + report_interval_ * 2).value());
  }
  const ByteCount receive_window(buffer.value() / 2);
  // At least one byte, so that something can be sent.
  return std::max(ByteCount(1), std::min(ByteCount(window_), std::min(buffer, receive_window)));
}

}  // namespace satrelay::control
