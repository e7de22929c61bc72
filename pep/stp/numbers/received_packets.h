// Which packets of the peer have arrived, and the reports about them (docs/stp.md section 7).
//
// A report covers packet numbers from the end of the third-last regular report up to the highest
// seen. So each gap and each arrival stands in three reports or more, and a lost report costs
// nothing. Where many reports are lost, a report reaches further back. If all reports about some
// packet are lost, the peer asks (PING), and the next two reports reach back to that packet.
#pragma once

#include <array>
#include <cstdint>

#include "pep/base/containers/range_set.h"
#include "pep/base/time.h"
#include "pep/stp/numbers/arrival_order.h"
#include "pep/stp/wire/feedback_frame.h"

namespace satrelay::stp {

struct ReportContext {
  int repeats = 3;              // number of regular reports that each packet stands in
  bool lost_in_bursts = false;  // reports may be lost in bursts, as packets are on their path
  bool dear = false;            // each byte of a report counts
  std::uint64_t interval_ms = 0;
  std::uint64_t bytes_received = 0;
  std::uint64_t stored = 0;
  std::uint64_t repaired = 0;  // packets
};

class ReceivedPackets {
 public:
  // A number this far beyond the highest seen comes from no working peer.
  static constexpr std::uint64_t kMaxJump = 1ULL << 24;
  static constexpr std::size_t kMaxMissingRanges = 1U << 17;
  static constexpr std::size_t kMaxRepeats = 8;
  // The number of older gaps that a report covers besides, if reports may be lost in bursts.
  static constexpr std::size_t kOlderGaps = 32;
  // Losses count as bursts from this mean length of their runs on. Unit: packets.
  static constexpr std::uint64_t kBurst = 3;
  // Reports that follow each other faster than this, because of new gaps, count as one.
  static constexpr Duration kRegularInterval = Duration::milliseconds(25);

  std::uint64_t next() const { return next_; }  // one past the highest seen
  bool plausible(std::uint64_t number) const { return number < next_ + kMaxJump; }
  bool is_duplicate(std::uint64_t number) const {
    return number < next_ && (number < floor_ || !missing_.contains(number));
  }
  // Whether record() may be called for a packet that is no duplicate. A peer could fill the gaps
  // below the highest number in any order. That would make as many gaps as there are packets, and
  // move half of them for each packet. So packets deep among very many gaps count as lost. A path
  // fills gaps near the highest number, and the peer sends lost data again in new numbers.
  bool has_place(std::uint64_t number) const;
  static constexpr std::size_t kReach = 4096;  // gaps from either end
  // Marks a packet that is no duplicate as received. True if it opened a gap below itself.
  bool record(std::uint64_t number, Instant now);
  // The same for a packet below the highest that was calculated from repairs. It says nothing about
  // the order of the path.
  void record_repaired(std::uint64_t number) { missing_.erase(number, number + 1); }
  // How late packets have arrived out of order lately; zero on a path that keeps order.
  Duration lateness(Instant now) { return order_.lateness(now); }

  bool is_missing(std::uint64_t number) const { return missing_.contains(number); }
  std::uint64_t floor() const { return floor_; }
  std::size_t missing_ranges() const { return missing_.range_count(); }

  // The peer needs no report below `number`.
  void settle(std::uint64_t number);
  // The peer has missed reports. The next report begins at `number`, if that is still known.
  void rewind(std::uint64_t number);

  // Writes the next part of a report into `out`, which has room for kMinReportRoom bytes. True if
  // the report is complete.
  static constexpr std::size_t kMinReportRoom = 128;
  bool write_report(ByteWriter& out, const ReportContext& context, Instant now);

 private:
  void begin_report(const ReportContext& context, Instant now);
  bool misses_bursts() const;
  std::uint64_t before_lost_reports(std::uint64_t begin) const;
  bool write_ranges(ByteWriter& out);
  bool write_bitmap(ByteWriter& out);
  bool bitmap_is_shorter() const;
  std::uint64_t first_missing(std::uint64_t begin, std::uint64_t end) const;
  void prune();
  ArrivalOrder order_;
  RangeSet missing_;  // within [floor_, next_)
  std::uint64_t next_ = 0;
  Instant highest_at_;
  std::uint64_t floor_ = 0;
  std::uint64_t settled_ = 0;
  std::array<std::uint64_t, kMaxRepeats> ends_{};  // ends of the last regular reports, newest first
  Instant regular_at_;
  // A gap among packets that arrived less than this before a report may still close.
  static constexpr Duration kYoung = Duration::milliseconds(25);
  std::uint64_t sampled_ = 0;  // the value of next_ at the last sample
  Instant sampled_at_;
  std::uint64_t young_from_ = 0;       // packets below it came more than kYoung ago
  std::uint64_t open_before_ = 0;      // the first gap that was young at the last regular report
  std::uint64_t covered_from_ = 0;     // first packet that the last report had to cover
  std::uint64_t rewind_ = kMaxVarint;  // kMaxVarint: no rewind was asked for
  int rewound_reports_ = 0;            // number of reports that must still be rewound
  bool in_report_ = false;
  std::uint64_t report_begin_ = 0;
  std::uint64_t cursor_ = 0;
  std::uint64_t report_end_ = 0;
};

}  // namespace satrelay::stp
