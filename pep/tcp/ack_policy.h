// When an ACK is owed (RFC 9293 section 3.8.6.3, RFC 5681 section 4.2): every second full segment,
// at the latest after the delay, and at once for whatever the peer's loss recovery waits for.
#pragma once

#include <algorithm>
#include <cstdint>

#include "pep/tcp/timers.h"

namespace satrelay::tcp {

class AckPolicy {
 public:
  explicit AckPolicy(std::uint32_t announced_mss) : announced_mss_(announced_mss) {}

  void owe_now() { now_ = true; }
  // In-order payload that filled no gap.
  void on_in_order(std::uint32_t bytes, Duration delay, Timers& timers, Instant now) {
    unacknowledged_ += bytes;
    full_segment_ = std::min(std::max(full_segment_, bytes), announced_mss_);
    if (quick_left_ > 0) {
      --quick_left_;
      now_ = true;
    } else if (unacknowledged_ >= 2 * full_segment_) {
      now_ = true;
    } else if (!timers.armed(Timer::kDelayedAck)) {
      timers.arm(Timer::kDelayedAck, now + delay);
    }
  }
  bool owed_now() const { return now_; }
  // Any segment with the ACK bit left.
  void on_sent(Timers& timers) {
    now_ = false;
    unacknowledged_ = 0;
    if (timers.armed(Timer::kDelayedAck)) timers.cancel(Timer::kDelayedAck);
  }

 private:
  // While the peer's congestion window is small, each delayed ACK would cost it a round trip.
  static constexpr std::uint8_t kQuickAcks = 16;

  std::uint32_t unacknowledged_ = 0;  // no more than a window
  std::uint32_t announced_mss_;       // more than that is several segments that a device has merged
  std::uint32_t full_segment_ = 1;    // largest payload seen: what the peer calls a full segment
  std::uint8_t quick_left_ = kQuickAcks;
  bool now_ = false;
};

}  // namespace satrelay::tcp
