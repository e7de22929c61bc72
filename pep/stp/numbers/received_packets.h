// Records which packets of the peer have arrived, and writes the reports about them (docs/stp.md
// section 7).
//
// A report covers the packet numbers from the end of the third-last regular report to the highest
// number seen. So each gap and each arrival is in three or more reports, and the loss of one report
// costs nothing. If the path loses many reports, each report covers more packets. If all reports
// about some packet are lost, the peer asks for a report about it (PING), and the next two reports
// begin at that packet.
#pragma once

#include <array>
#include <cstdint>

#include "pep/base/containers/range_set.h"
#include "pep/base/time.h"
#include "pep/stp/numbers/arrival_order.h"
#include "pep/stp/wire/feedback_frame.h"

namespace satrelay::stp {

struct ReportContext {
  int repeats = 3;  // number of regular reports that contain each packet
  // The path loses packets in bursts, so it may lose reports in bursts.
  bool lost_in_bursts = false;
  bool dear = false;  // the link is narrow, so each byte of a report counts
  std::uint64_t interval_ms = 0;
  std::uint64_t bytes_received = 0;
  std::uint64_t stored = 0;
  std::uint64_t repaired = 0;  // number of packets recovered with repairs
};

class ReceivedPackets {
 public:
  // A packet number that exceeds the highest number seen by this much is rejected. No working peer
  // sends it.
  static constexpr std::uint64_t kMaxJump = 1ULL << 24;
  static constexpr std::size_t kMaxMissingRanges = 1U << 17;
  static constexpr std::size_t kMaxRepeats = 8;
  // Maximum number of older gaps that a report also covers if reports may be lost in bursts.
  static constexpr std::size_t kOlderGaps = 32;
  // Losses count as bursts if at least this number of packets on average are lost in a row.
  static constexpr std::uint64_t kBurst = 3;
  // New gaps cause additional reports. If reports follow each other within less than this time,
  // they count as one regular report.
  static constexpr Duration kRegularInterval = Duration::milliseconds(25);

  std::uint64_t next() const { return next_; }  // one past the highest number seen
  bool plausible(std::uint64_t number) const { return number < next_ + kMaxJump; }
  bool is_duplicate(std::uint64_t number) const {
    return number < next_ && (number < floor_ || !missing_.contains(number));
  }
  // Whether record() may be called for a packet that is no duplicate. A peer could send the packets
  // below the highest number in any order. Then there would be as many gaps as packets, and each
  // packet would move half of the gaps in memory. So packets in the middle of very many gaps count
  // as lost. A path fills only gaps near the highest number, and the peer retransmits lost data
  // under new numbers.
  bool has_place(std::uint64_t number) const;
  // Maximum number of gaps, counted from either end, that may be filled.
  static constexpr std::size_t kReach = 4096;
  // Marks a packet that is no duplicate as received. Returns true if there is now a new gap below
  // it.
  bool record(std::uint64_t number, Instant now);
  // Marks a packet that was recovered with repairs as received. This says nothing about the order
  // of packets on the path.
  void record_repaired(std::uint64_t number) { missing_.erase(number, number + 1); }
  // How late packets out of order have recently arrived; zero if the path keeps the order.
  Duration lateness(Instant now) { return order_.lateness(now); }

  bool is_missing(std::uint64_t number) const { return missing_.contains(number); }
  std::uint64_t floor() const { return floor_; }
  std::size_t missing_ranges() const { return missing_.range_count(); }

  // The peer needs no more reports about packets below `number`.
  void settle(std::uint64_t number);
  // The peer has missed reports. So the next two reports also cover the packets from `number` on,
  // except packets below floor().
  void rewind(std::uint64_t number);

  // Writes the next part of a report into `out`, which must have at least kMinReportRoom free
  // bytes. Returns true if the report is complete.
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
  RangeSet missing_;  // missing packets in [floor_, next_)
  std::uint64_t next_ = 0;
  Instant highest_at_;
  std::uint64_t floor_ = 0;
  std::uint64_t settled_ = 0;
  std::array<std::uint64_t, kMaxRepeats> ends_{};  // ends of the last regular reports, newest first
  Instant regular_at_;
  // If the packets around a gap arrived less than this time before a report, the missing packets
  // may still arrive late.
  static constexpr Duration kYoung = Duration::milliseconds(25);
  std::uint64_t sampled_ = 0;  // the value of next_ at the time sampled_at_
  Instant sampled_at_;
  // If packets below this number have arrived, then more than kYoung ago.
  std::uint64_t young_from_ = 0;
  // The first packet that was missing at the last regular report, and might still arrive late.
  std::uint64_t open_before_ = 0;
  std::uint64_t covered_from_ = 0;     // first packet that the last report was required to cover
  std::uint64_t rewind_ = kMaxVarint;  // argument of the last rewind(); kMaxVarint if there is none
  int rewound_reports_ = 0;            // number of further reports that must begin at rewind_
  bool in_report_ = false;
  std::uint64_t report_begin_ = 0;
  std::uint64_t cursor_ = 0;
  std::uint64_t report_end_ = 0;
};

}  // namespace satrelay::stp
