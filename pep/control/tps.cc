#include "pep/control/tps.h"

#include <algorithm>

#include "pep/control/paced_rate.h"

namespace satrelay::control {
namespace {

constexpr std::uint64_t kLeastWindow = 2;

}  // namespace

void Tps::on_start(const StartSample& sample) {
  packet_ = sample.packet;
  rtt_ = sample.rtt;
  set_receive_window();
  window_ = std::max(most_ / 2, kLeastWindow);
  starting_ = true;
  sending_ = recovering_ = low_next_ = false;
  received_ = lost_ = low_lost_ = 0;
  halved_at_ = sample.now - rtt_ * 2;
}

void Tps::set_receive_window() {
  most_ = config_.window;
  if (most_ == 0) {
    const std::uint64_t bytes = config_.capacity.bytes_in(rtt_).value();
    most_ = (bytes + packet_.value() - 1) / std::max<std::uint64_t>(packet_.value(), 1);
  }
  most_ = std::max(most_, 2 * kLeastWindow);
}

void Tps::on_capacity(BitRate capacity) {
  config_.capacity = capacity;
  set_receive_window();
  window_ = std::min(window_, most_);
}

Priority Tps::on_sent(Purpose purpose, ByteCount, Instant now) {
  if (purpose == Purpose::kControl) return Priority::kHigh;
  if (!sending_) {
    // The receiver sends its first M-NACK a round trip after the first packet has arrived, so the
    // first round takes two round trips.
    sending_ = true;
    round_ends_ = now + rtt_ * 2;
  }
  if (purpose == Purpose::kRetransmission && !recovering_ && !starting_) return Priority::kHigh;
  const bool low = low_next_;
  low_next_ = !low_next_;
  if (starting_) return low ? Priority::kStartLow : Priority::kStartHigh;
  return low ? Priority::kLow : Priority::kHigh;
}

void Tps::on_feedback(const FeedbackSample& sample) {
  if (sample.rtt > Duration::zero()) rtt_ = (rtt_ * 7 + sample.rtt) / 8;
  if (!sending_) return;
  received_ += sample.packets_delivered;
  lost_ += sample.packets_lost;
  low_lost_ += sample.low_priority_packets_lost;
  if (sample.now < round_ends_) return;
  round_ends_ = sample.now + rtt_;
  recovering_ = false;
  const std::uint64_t sent = received_ + lost_;
  if (starting_ && sent < window_ / 2 && lost_ <= 1) {
    // The session had too little to send, for example only a message that belongs to no flow. So
    // its Super Start has not taken place yet.
    sending_ = false;
  } else {
    if (starting_) window_ = std::min(window_ + received_, most_);
    starting_ = false;
    judge_round(sample.now);
  }
  received_ = lost_ = low_lost_ = 0;
}

// As in figures 3 and 4. Routers drop packets of low priority first (equation 5), and packets of
// high priority only if they drop all packets of low priority (equation 6). A single loss, or a few
// losses of both priorities, is attributed to the channel.
void Tps::judge_round(Instant now) {
  const bool congested = lost_ > 1 && (low_lost_ == lost_ || lost_ > window_ / 2);
  if (!congested) {
    window_ = std::min(window_ + 1, most_);
    return;
  }
  recovering_ = true;
  if (now - halved_at_ < rtt_ * 2) return;
  halved_at_ = now;
  window_ = std::max(window_ / 2, kLeastWindow);
}

BitRate Tps::rate() const {
  const std::int64_t ns = std::max<std::int64_t>(rtt_.to_nanoseconds(), 1);
  const double rate = static_cast<double>(window_) * static_cast<double>(packet_.value()) * 8e9 /
                      static_cast<double>(ns);
  return std::clamp(BitRate::bits_per_second(static_cast<std::uint64_t>(rate)),
                    BitRate::bits_per_second(1'000),
                    std::max(paced_rate(config_.capacity), BitRate::bits_per_second(1'000)));
}

// Maximum number of bytes that can be unreported if there is one report per round trip. The pacing
// enforces the congestion window.
ByteCount Tps::window() const { return ByteCount((2 * window_ + 2) * packet_.value()); }

}  // namespace satrelay::control
