// Decides when an ACK is owed (RFC 9293 section 3.8.6.3, RFC 5681 section 4.2): for every second
// full segment, after the delay at the latest, and at once if the peer's loss recovery needs it.
#pragma once

#include <algorithm>
#include <cstdint>

#include "pep/base/image/image.h"
#include "pep/tcp/timers.h"

namespace satrelay::tcp {

class AckPolicy {
 public:
  void owe_now() { now_ = true; }
  // A payload of more than `announced_mss` is several segments that a device has merged. `delay`:
  // the longest delay of an ACK.
  struct Manner {
    std::uint16_t announced_mss = 0;
    Duration delay;
  };
  // In-order payload that filled no gap.
  void on_in_order(std::uint32_t bytes, const Manner& manner, Timers& timers, Instant now) {
    unacknowledged_ += bytes;
    full_segment_ = static_cast<std::uint16_t>(std::min<std::uint32_t>(
        std::max<std::uint32_t>(full_segment_, bytes), manner.announced_mss));
    if (quick_left_ > 0) {
      --quick_left_;
      now_ = true;
    } else if (unacknowledged_ >= 2U * full_segment_) {
      now_ = true;
    } else if (!timers.armed(Timer::kDelayedAck)) {
      timers.arm(Timer::kDelayedAck, now + manner.delay);
    }
  }
  bool owed_now() const { return now_; }
  // A segment with the ACK bit was sent.
  void on_sent(Timers& timers) {
    now_ = false;
    unacknowledged_ = 0;
    if (timers.armed(Timer::kDelayedAck)) timers.cancel(Timer::kDelayedAck);
  }

  void image(Image& image) { image(unacknowledged_, full_segment_, quick_left_, now_); }

 private:
  // While the peer's congestion window is small, each delayed ACK would cost it a round trip.
  static constexpr std::uint8_t kQuickAcks = 16;

  std::uint32_t unacknowledged_ = 0;  // bytes; no more than a window
  std::uint16_t full_segment_ = 1;    // largest payload seen: what the peer calls a full segment
  std::uint8_t quick_left_ = kQuickAcks;
  bool now_ = false;
};

}  // namespace satrelay::tcp
