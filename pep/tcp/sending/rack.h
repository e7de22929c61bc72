// RACK (RFC 8985 section 6). A segment counts as lost if a segment that was sent later has been
// delivered, and a reordering window has passed since. The same holds for retransmissions. RACK
// needs SACK.
//
// The timer runs to the earliest deadline, instead of the latest as in the RFC's pseudocode. So
// losses are found no later, and a walk over the segments ends at the first segment that may still
// arrive.
#pragma once

#include <cstdint>
#include <optional>

#include "pep/base/image/image.h"
#include "pep/tcp/sending/sent_segments.h"

namespace satrelay::tcp {

// A loss is likely if this number of segments behind a missing segment were delivered, or this
// number of duplicate ACKs arrived (RFC 5681 section 3.2).
inline constexpr std::uint32_t kDuplicateThreshold = 3;

class Rack {
 public:
  SentSegments& segments() { return segments_; }
  const SentSegments& segments() const { return segments_; }

  // --- input: for each ACK in this order -------------------------------------------------------
  struct Arrival {
    Instant now;
    // The echoed timestamp was sent before this instant. never() if unknown.
    Instant echoed_before = Instant::never();
  };
  // Call when the bytes in `range` are acknowledged or reported for the first time.
  void on_delivered(Range range, const Arrival& arrival);
  // `rtt` is a sample that cannot come from a retransmission.
  void take_rtt(Duration rtt, Instant now);
  // A duplicate report (RFC 2883) shows that a retransmission was needless. This widens the
  // reordering window, at most once per round trip.
  void on_duplicate_report(std::uint64_t una, std::uint64_t next);

  // --- losses ----------------------------------------------------------------------------------
  struct Circumstances {
    bool in_recovery = false;
    Duration smoothed_rtt;
    Instant now;
  };
  // Calls `lose` with each range that now counts as lost. Returns when detect() should be called
  // again.
  template <typename Lose>
  Instant detect(const Circumstances& circumstances, Lose&& lose) {
    const Duration patience = rtt_ + window(circumstances);
    while (segments_.has_in_flight()) {
      const SentSegments::Segment oldest = segments_.oldest();
      if (!was_sent_before_newest(oldest)) break;
      if (oldest.sent_at + patience > circumstances.now) return oldest.sent_at + patience;
      segments_.take_oldest();
      lose(oldest.range);
    }
    return Instant::never();
  }
  // Retransmission timeout (section 6.3). The first segment counts as lost, and so does each
  // overdue segment. A segment that was sent just now may still arrive.
  template <typename Lose>
  void detect_at_timeout(const Circumstances& circumstances, Lose&& lose) {
    if (const Range first = segments_.take_first(); first.size() > 0) lose(first);
    const Duration patience = rtt_ + window(circumstances);
    while (segments_.has_in_flight() &&
           segments_.oldest().sent_at + patience <= circumstances.now) {
      lose(segments_.oldest().range);
      segments_.take_oldest();
    }
  }
  void on_recovery_exit();

  bool reordering_seen() const { return reordering_seen_; }
  bool has_minimum_rtt() const { return !minimum_rtt_.is_infinite(); }
  // Whether this object can be freed, because a new Rack would learn the same about the path within
  // one round trip.
  bool is_plain() const {
    return segments_.empty() && !reordering_seen_ && !duplicate_round_ && multiple_ == 1;
  }

  void image(Image& image) {
    image(segments_, newest_sent_at_, newest_end_, rtt_, minimum_rtt_, minimum_rtt_expires_,
          highest_delivered_, reordering_seen_, duplicate_round_, multiple_, multiple_left_);
  }

 private:
  bool was_sent_before_newest(const SentSegments::Segment& segment) const {
    return segment.sent_at != newest_sent_at_ ? segment.sent_at < newest_sent_at_
                                              : segment.range.end < newest_end_;
  }
  void consider(const SentSegments::Segment& segment, const Arrival& arrival);
  Duration window(const Circumstances& circumstances) const;

  SentSegments segments_;
  // The delivered segment that was sent last (RACK.xmit_ts, RACK.end_seq, RACK.rtt).
  Instant newest_sent_at_;
  std::uint64_t newest_end_ = 0;
  Duration rtt_;
  Duration minimum_rtt_ = Duration::infinite();
  Instant minimum_rtt_expires_;
  std::uint64_t highest_delivered_ = 0;  // RACK.fack
  bool reordering_seen_ = false;
  std::optional<std::uint64_t> duplicate_round_;  // RACK.dsack_round
  std::uint8_t multiple_ = 1;                     // RACK.reo_wnd_mult
  std::uint8_t multiple_left_ = 0;                // RACK.reo_wnd_persist
};

}  // namespace satrelay::tcp
