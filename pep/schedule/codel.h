// CoDel, the law by which a queue drops packets that have waited too long (RFC 8289 section 5). If
// all packets that reach the head within an interval have waited for at least the target, the queue
// drops a packet. The n-th drop is followed by a pause of interval / sqrt(n), and then by the next
// drop. Dropping ends when a packet reaches the head that has waited less than the target.
//
// Each queue has a Codel object, and calls drops() for each packet that reaches the head. The code
// in RFC 8289 takes the packets from the queue itself. Codel gets only a description of each
// packet, so it does not depend on the types of packets and queues.
#pragma once

#include <cmath>
#include <cstdint>

#include "pep/base/time.h"

namespace satrelay::schedule {

class Codel {
 public:
  struct Terms {
    Duration target;  // acceptable waiting time in the queue (TARGET in RFC 8289)
    // At least the longest usual round trip of the senders (INTERVAL in RFC 8289).
    Duration interval;
  };
  // A packet's time in the queue, and whether enough bytes follow it to keep the link busy.
  struct Head {
    Duration waited;
    bool is_followed = true;
  };

  // Whether the queue must drop the packet. After a drop, the queue must call this function at once
  // for the next packet at its head.
  bool drops(const Head& head, const Terms& terms, Instant now) {
    const bool is_late = stays_late(head, terms, now);
    if (!is_dropping_) return is_late && begin(terms, now);
    is_dropping_ = is_late;
    if (!is_late) return false;
    if (has_dropped_) next_drop_ = next_drop_ + pause(terms);
    has_dropped_ = now >= next_drop_;
    if (has_dropped_) ++count_;
    return has_dropped_;
  }

 private:
  // If dropping begins again within this number of intervals, it continues at about its last rate.
  static constexpr std::int64_t kRemembered = 16;

  // Whether all packets that reached the head within an interval had waited for at least the
  // target.
  bool stays_late(const Head& head, const Terms& terms, Instant now) {
    if (head.waited < terms.target || !head.is_followed) {
      late_from_ = Instant::never();
      return false;
    }
    if (late_from_.is_never()) {
      late_from_ = now + terms.interval;
      return false;
    }
    return now >= late_from_;
  }

  bool begin(const Terms& terms, Instant now) {
    const std::uint32_t dropped = count_ - first_count_;
    const bool goes_on = dropped > 1 && now - next_drop_ < terms.interval * kRemembered;
    count_ = goes_on ? dropped : 1;
    first_count_ = count_;
    next_drop_ = now + pause(terms);
    is_dropping_ = true;
    has_dropped_ = false;
    return true;
  }

  // The control law: the pauses between drops become shorter, so that the throughput of a sender
  // falls linearly if the sender halves its window at each drop.
  Duration pause(const Terms& terms) const {
    const auto interval = static_cast<double>(terms.interval.to_nanoseconds());
    return Duration::nanoseconds(std::llround(interval / std::sqrt(count_)));
  }

  Instant late_from_ = Instant::never();
  Instant next_drop_;
  std::uint32_t count_ = 0;        // the n in interval / sqrt(n)
  std::uint32_t first_count_ = 0;  // value of count_ when dropping began
  bool is_dropping_ = false;
  bool has_dropped_ = false;  // the last packet was dropped because next_drop_ had passed
};

}  // namespace satrelay::schedule
