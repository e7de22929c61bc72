// CoDel, the law by which a queue drops what it has kept for too long (RFC 8289 section 5). If all
// that comes to its head within an interval has waited longer than the target, the queue drops one,
// and the next ones after interval / sqrt(n), until what comes has waited less.
//
// A queue has one of these, and asks it about each packet that comes to its head. RFC 8289 looks
// the packet up itself; this is told of it, so that it knows neither packets nor queues.
#pragma once

#include <cmath>
#include <cstdint>

#include "pep/base/time.h"

namespace satrelay::schedule {

class Codel {
 public:
  struct Terms {
    Duration target;    // that may stand in the queue
    Duration interval;  // a round trip of those who send, or more
  };
  // A packet's time in the queue, and whether enough stands behind it to keep the link busy.
  struct Head {
    Duration waited;
    bool is_followed = true;
  };

  // Whether the packet is to be dropped. If it is, the one behind it is asked about at once.
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
  // A queue that drops again within so many intervals goes on about where it was.
  static constexpr std::int64_t kRemembered = 16;

  // Packets have come late for an interval.
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

  // The control law: the number of drops rises so that a window that halves with each of them falls
  // in a straight line.
  Duration pause(const Terms& terms) const {
    const auto interval = static_cast<double>(terms.interval.to_nanoseconds());
    return Duration::nanoseconds(std::llround(interval / std::sqrt(count_)));
  }

  Instant late_from_ = Instant::never();
  Instant next_drop_;
  std::uint32_t count_ = 0;        // drops of this episode
  std::uint32_t first_count_ = 0;  // with which it began
  bool is_dropping_ = false;
  bool has_dropped_ = false;  // by the law, and next_drop_ is that of this drop still
};

}  // namespace satrelay::schedule
