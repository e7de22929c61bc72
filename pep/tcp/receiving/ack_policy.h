// Decides when an ACK is due (RFC 9293 section 3.8.6.3, RFC 5681 section 4.2). An ACK is due for
// every second full segment, after a delay at the latest, or at once if the peer's loss recovery
// needs it.
#pragma once

#include <algorithm>
#include <cstdint>

#include "pep/base/image/image.h"
#include "pep/tcp/timers.h"

namespace satrelay::tcp {

class AckPolicy {
 public:
  void owe_now() { now_ = true; }
  // A payload larger than `announced_mss` consists of several segments that a device has merged.
  // `delay` is the longest time that an ACK may wait.
  struct Manner {
    std::uint16_t announced_mss = 0;
    Duration delay;
  };
  // Call when in-order payload of `bytes` bytes has arrived and has filled no gap.
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
  // Call when a segment with the ACK bit was sent.
  void on_sent(Timers& timers) {
    now_ = false;
    unacknowledged_ = 0;
    if (timers.armed(Timer::kDelayedAck)) timers.cancel(Timer::kDelayedAck);
  }

  void image(Image& image) { image(unacknowledged_, full_segment_, quick_left_, now_); }

 private:
  // The number of segments at the start of a connection that are acknowledged at once. The peer's
  // congestion window is still small then, and each delayed ACK would cost the peer a round trip.
  static constexpr std::uint8_t kQuickAcks = 16;

  std::uint32_t unacknowledged_ = 0;  // bytes received since the last ACK; no more than a window
  // The size of the peer's full segments: the largest payload seen, at most our MSS.
  std::uint16_t full_segment_ = 1;
  std::uint8_t quick_left_ = kQuickAcks;
  bool now_ = false;
};

}  // namespace satrelay::tcp
