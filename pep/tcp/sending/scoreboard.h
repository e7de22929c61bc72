// Which positions are outstanding, which of them the peer has reported (RFC 2018), and which count
// as lost. Positions are 64-bit and include the FIN.
//
// Every position in [una, next) is in exactly one of three conditions:
//   sacked    reported by the peer: never sent again unless the peer reneges
//   lost      counts as lost, and was not sent again yet
//   in flight all others: the original, or the latest retransmission
// So RFC 6675's pipe is a subtraction, and each event costs O(ranges it changes). If the peer has
// SACK, Rack decides what is lost; if not, duplicate ACKs do. In both cases the timeout does, too.
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
  // Most separate ranges of the peer's reports that are kept, beside one more for each 64 KiB in
  // flight, which is a loss in forty segments. Further reports are dropped, as RFC 2018 section 8
  // allows: the sender may retransmit those bytes needlessly.
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

  // Cumulative acknowledgment up to `ack`, in (una, next]. Returns the bytes not reported before.
  std::uint64_t acknowledge(std::uint64_t ack);
  bool has_place(Range block) const {
    if (!reports_) return true;
    const RangeSet& sacked = reports_->sacked;
    return sacked.range_count() < kFewestReports + outstanding() / kBytesAReport ||
           sacked.touches(std::max(block.begin, una_), block.end);
  }
  // Takes a SACK block. Ignored if there is no place for it, or if it ends beyond next; the part
  // below una is ignored. Calls `report` with each range that is new to us; returns the bytes in
  // them.
  template <typename Report>
  std::uint64_t sack(Range block, Report&& report) {
    block.begin = std::max(block.begin, una_);
    if (block.begin >= block.end || block.end > next_ || !has_place(block)) return 0;
    for_each_hole(block, report);
    const std::uint64_t fresh = reports().sacked.insert(block.begin, block.end);
    if (fresh > 0 && has_lost()) reports_->lost.erase(block.begin, block.end);
    return fresh;
  }
  // All of `range` that is outstanding and not sacked counts as lost.
  void take_for_lost(Range range);
  // Counts the first segment as lost: upon the third duplicate ACK, or a partial ACK without SACK.
  void mark_first_lost(std::uint64_t segment_size);
  void mark_all_lost() { take_for_lost({una_, next_}); }
  // The peer has dropped data that it had reported (RFC 2018 section 8): the first outstanding byte
  // is among the reported ones.
  bool has_reneged() const {
    return has_sacked() && reports_->sacked.ranges().front().begin <= una_;
  }
  void forget_reports() {
    if (reports_) reports_->sacked.clear();
  }

  // Without SACK: bytes that have left the network, judging by duplicate ACKs.
  void set_duplicate_credit(std::uint64_t bytes) {
    if (reports_ || bytes > 0) reports().duplicate_credit = bytes;
  }

  // Frees the memory if no reports or losses are left.
  void trim() {
    if (!reports_) return;
    const bool over = reports_->sacked.empty() && reports_->lost.empty();
    if (over && reports_->duplicate_credit == 0) reports_.reset();
  }
  bool is_consistent() const;

  void image(Image& image) { image(una_, next_, reports_); }

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
