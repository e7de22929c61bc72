// When an ACK is owed (RFC 9293 section 3.8.6.3, RFC 5681 section 4.2): every second full segment,
// at the latest after the delay, and at once for whatever the peer's loss recovery waits for.
#pragma once

#include <algorithm>
#include <cstdint>

#include "pep/tcp/timers.h"

namespace satrelay::tcp {

class AckPolicy {
 public:
  AckPolicy(Timers& timers, Duration delay, std::uint32_t announced_mss)
      : timers_(timers), delay_(delay), announced_mss_(announced_mss) {}

  void owe_now() { now_ = true; }
  // In-order payload that filled no gap.
  void on_in_order(std::uint64_t bytes, Instant now) {
    unacknowledged_ += bytes;
    full_segment_ = static_cast<std::uint32_t>(
        std::min<std::uint64_t>(std::max<std::uint64_t>(full_segment_, bytes), announced_mss_));
    if (quick_left_ > 0) {
      --quick_left_;
      now_ = true;
    } else if (unacknowledged_ >= std::uint64_t{2} * full_segment_) {
      now_ = true;
    } else if (!timers_.armed(Timer::kDelayedAck)) {
      timers_.arm(Timer::kDelayedAck, now + delay_);
    }
  }
  bool owed_now() const { return now_; }
  // Any segment with the ACK bit left.
  void on_sent() {
    now_ = false;
    unacknowledged_ = 0;
    if (timers_.armed(Timer::kDelayedAck)) timers_.cancel(Timer::kDelayedAck);
  }

 private:
  // While the peer's congestion window is small, each delayed ACK would cost it a round trip.
  static constexpr std::uint8_t kQuickAcks = 16;

  Timers& timers_;
  Duration delay_;
  std::uint64_t unacknowledged_ = 0;
  std::uint32_t announced_mss_;     // more than that is several segments that a device has merged
  std::uint32_t full_segment_ = 1;  // largest payload seen: what the peer calls a full segment
  std::uint8_t quick_left_ = kQuickAcks;
  bool now_ = false;
};

}  // namespace satrelay::tcp
