// The scoreboard: which positions are outstanding, which of them the peer has reported (RFC 2018),
// and which count as lost. Positions are 64-bit and include the FIN.
//
// Every position in [una, next) is in exactly one of three conditions:
//   sacked    reported by the peer: never sent again unless the peer reneges
//   lost      counts as lost, and has not been retransmitted yet
//   in flight all others: the original, or the latest retransmission, is in the network
// So the pipe of RFC 6675 is a subtraction, and each event costs O(ranges that it changes). With
// SACK, Rack decides which data is lost. Without SACK, duplicate ACKs decide. In both cases a
// timeout also marks data as lost.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "pep/base/containers/range_set.h"
#include "pep/base/image/image.h"

namespace satrelay::tcp {

class Scoreboard {
 public:
  // Maximum number of separate ranges that are kept from the peer's reports: kFewestReports, and
  // one more for each 64 KiB in flight. That suffices for one loss in forty segments. Further
  // reports are dropped, as RFC 2018 section 8 allows. Then the sender may retransmit these bytes
  // needlessly.
  static constexpr std::size_t kFewestReports = 128;
  static constexpr std::uint64_t kBytesAReport = 65'536;

  std::uint64_t una() const { return una_; }
  std::uint64_t next() const { return next_; }
  std::uint64_t outstanding() const { return next_ - una_; }
  std::uint64_t pipe() const {
    if (!reports_) return outstanding();
    const std::uint64_t gone =
        reports_->sacked.total() + reports_->lost.total() + reports_->duplicate_credit;
    return outstanding() > gone ? outstanding() - gone : 0;
  }
  bool has_lost() const { return reports_ && !reports_->lost.empty(); }
  Range first_lost() const { return reports_->lost.ranges().front(); }
  bool has_sacked() const { return reports_ && !reports_->sacked.empty(); }

  void on_sent(std::uint64_t end) { next_ = end; }
  void on_retransmitted(Range range) {
    if (reports_) reports_->lost.erase(range.begin, range.end);
  }

  // Handles a cumulative acknowledgment up to `ack`, in (una, next]. Returns the number of bytes
  // that were not reported before.
  std::uint64_t acknowledge(std::uint64_t ack);
  bool has_place(Range block) const {
    if (!reports_) return true;
    const RangeSet& sacked = reports_->sacked;
    return sacked.range_count() < kFewestReports + outstanding() / kBytesAReport ||
           sacked.touches(std::max(block.begin, una_), block.end);
  }
  // Handles a SACK block. A block is ignored if no slot is free for it, or if it ends beyond next.
  // The part below una is ignored. Calls `report` with each range that was not reported before, and
  // returns the bytes in these ranges.
  template <typename Report>
  std::uint64_t sack(Range block, Report&& report) {
    block.begin = std::max(block.begin, una_);
    if (block.begin >= block.end || block.end > next_ || !has_place(block)) return 0;
    for_each_hole(block, report);
    const std::uint64_t fresh = reports().sacked.insert(block.begin, block.end);
    if (fresh > 0 && has_lost()) reports_->lost.erase(block.begin, block.end);
    return fresh;
  }
  // Marks as lost the bytes of `range` that are outstanding and not sacked.
  void take_for_lost(Range range);
  // Marks the first segment as lost: for the third duplicate ACK, or for a partial ACK without
  // SACK.
  void mark_first_lost(std::uint64_t segment_size);
  void mark_all_lost() { take_for_lost({una_, next_}); }
  // Whether the peer has dropped data that it had reported (RFC 2018 section 8). The peer has
  // dropped data if a reported range contains the first outstanding byte.
  bool has_reneged() const {
    return has_sacked() && reports_->sacked.ranges().front().begin <= una_;
  }
  void forget_reports() {
    if (reports_) reports_->sacked.clear();
  }

  // Without SACK: the number of bytes that have left the network, as duplicate ACKs show.
  void set_duplicate_credit(std::uint64_t bytes) {
    if (reports_ || bytes > 0) reports().duplicate_credit = bytes;
  }

  // Frees the memory if there are no reports and no losses.
  void trim() {
    if (!reports_) return;
    const bool over = reports_->sacked.empty() && reports_->lost.empty();
    if (over && reports_->duplicate_credit == 0) reports_.reset();
  }
  bool is_consistent() const;

  void image(Image& image) {
    image(una_, next_, reports_);
    if (image.reads() && !is_consistent()) image.fail();
  }

 private:
  template <typename Visitor>
  void for_each_hole(Range range, Visitor&& visit) const {
    std::uint64_t at = range.begin;
    if (!reports_) return visit(range);
    const auto ranges = reports_->sacked.ranges();
    for (std::size_t i = reports_->sacked.first_ending_after(at);
         i < ranges.size() && at < range.end; ++i) {
      const std::uint64_t hole_end = std::min(ranges[i].begin, range.end);
      if (at < hole_end) visit(Range{at, hole_end});
      at = ranges[i].end;
    }
    if (at < range.end) visit(Range{at, range.end});
  }

  std::uint64_t una_ = 0;
  std::uint64_t next_ = 0;
  struct Reports {
    RangeSet sacked;
    RangeSet lost;
    std::uint64_t duplicate_credit = 0;
    void image(Image& image) { image(sacked, lost, duplicate_credit); }
  };
  Reports& reports() {
    if (!reports_) reports_ = std::make_unique<Reports>();
    return *reports_;
  }
  std::unique_ptr<Reports> reports_;  // allocated at the first report or loss
};

}  // namespace satrelay::tcp
