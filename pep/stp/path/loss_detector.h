// Decides which packets have arrived and which are lost. Only the peer's reports are used
// (docs/stp.md section 7).
//
// A packet is settled if it is known to have arrived, or was declared lost. No report has covered
// packets from frontier_ on yet. The unsettled packets below frontier_ are in unresolved_. So the
// time for a report depends on its ranges and on the newly settled packets, but not on the number
// of packets in flight. One report may settle all packets in flight. So the visitor decides when a
// call has done enough.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "pep/base/containers/range_set.h"
#include "pep/base/time.h"
#include "pep/stp/wire/frames.h"

namespace satrelay::stp {

class LossDetector {
 public:
  // Distinguishes losses from reordering (reorder_tolerance.h).
  struct Rule {
    std::uint64_t uncertain = 0;  // missing packets below this number are lost
    // Other missing packets are lost if they are not reported as received within this time.
    Duration wait;
    // Missing packets in these ranges may still be repaired if a code covers them. A later report
    // shows whether they were repaired. The ranges are ascending and disjoint.
    std::span<const Range> repairable = {};
  };

  std::uint64_t oldest_unresolved() const {
    return unresolved_.empty() ? frontier_ : unresolved_.ranges().front().begin;
  }
  std::uint64_t frontier() const { return frontier_; }
  bool is_unresolved(std::uint64_t number) const {
    return number >= frontier_ || unresolved_.contains(number);
  }
  // The newest unresolved packet below `number`. There must be one.
  std::uint64_t newest_unresolved_below(std::uint64_t number) const {
    const auto ranges = unresolved_.ranges();
    std::size_t i = unresolved_.first_ending_after(number);
    if (i < ranges.size() && ranges[i].begin < number) return number - 1;
    return i > 0 ? ranges[i - 1].end - 1 : 0;
  }
  // Some packets that were reported missing may only be late. At this time they are declared lost.
  // never() if there are no such packets.
  Instant deadline() const { return deadline_; }

  // `report.highest` must have been sent. The visitor must not call this object. It is called as
  // acknowledged(n) or lost(n) for each newly settled packet, as spurious(n) for a packet that was
  // declared lost, but has arrived, and as looks() for each run of the report. Its function
  // is_covered(n) returns whether a code may repair a packet, and goes_on() returns whether to
  // continue. `from` is kFromTheStart in the first call for a report. Returns `from` for the next
  // call, or kWhole if the report is finished.
  static constexpr std::uint64_t kFromTheStart = 0;
  static constexpr std::uint64_t kWhole = ~std::uint64_t{0};
  template <typename Visitor>
  [[nodiscard]] std::uint64_t handle_report(const FeedbackFrame& report, std::uint64_t from,
                                            const Rule& rule, Instant now, Visitor& visitor);
  // Declares packets lost if the deadline has passed. If the visitor stops this, the deadline stays
  // due, and the next call continues.
  template <typename Visitor>
  void handle_timeout(Instant now, Visitor& visitor);
  // Number of ranges that were moved in memory when the two sets changed (RangeSet::moved()).
  std::uint64_t moved() const { return unresolved_.moved() + lost_.moved(); }
  // Declares the only unresolved packet below `number` lost, whether or not it has arrived.
  template <typename Visitor>
  void abandon_below(std::uint64_t number, Visitor& visitor) {
    if (number > frontier_) {
      unresolved_.insert(frontier_, number);
      frontier_ = number;
    }
    (void)lose(0, number, visitor);  // only one packet, so the visitor cannot stop it
  }

 private:
  // Calls function(n) for each member of `set` within [begin, end), and removes these members.
  // Returns where the visitor has stopped, or `end` if it has not.
  template <typename Visitor, typename Function>
  static std::uint64_t take(RangeSet& set, std::uint64_t begin, std::uint64_t end, Visitor& visitor,
                            Function&& function) {
    if (begin >= end || set.empty()) return std::max(begin, end);
    const auto ranges = set.ranges();
    std::uint64_t stop = end;
    bool any = false;
    for (std::size_t i = set.first_ending_after(begin); i < ranges.size() && ranges[i].begin < stop;
         ++i) {
      const std::uint64_t last = std::min(ranges[i].end, end);
      for (std::uint64_t n = std::max(ranges[i].begin, begin); n < last; ++n) {
        if (!visitor.goes_on()) {
          stop = n;
          break;
        }
        any = true;
        function(n);
      }
    }
    if (any) set.erase(begin, stop);
    return stop;
  }
  template <typename Visitor>
  std::uint64_t lose(std::uint64_t begin, std::uint64_t end, Visitor& visitor) {
    return take(unresolved_, begin, end, visitor, [&](std::uint64_t n) {
      visitor.lost(n);
      lost_.insert(n, n + 1);
    });
  }
  // Handles packets in [begin, end) that were reported missing. Returns where the visitor has
  // stopped, or `end` if it has not.
  template <typename Visitor>
  std::uint64_t judge(std::uint64_t begin, std::uint64_t end, const Rule& rule, Instant now,
                      Visitor& visitor) {
    if (begin >= end) return std::max(begin, end);
    const std::uint64_t certain = std::min(end, rule.uncertain);
    const std::uint64_t stop = lose(begin, certain, visitor);
    if (stop < certain) return stop;
    if (end > rule.uncertain && unresolved_.contains(end - 1)) {
      suspect(std::max(begin, rule.uncertain), end, rule.wait, now);
    }
    return end;
  }
  // Does the same as judge(), but skips packets that repairs may still recover.
  template <typename Visitor>
  std::uint64_t judge_uncovered(std::uint64_t begin, std::uint64_t end, const Rule& rule,
                                Instant now, Visitor& visitor) {
    for (std::uint64_t n = begin; n < end; ++n) {
      if (!visitor.goes_on()) return n;
      if (!visitor.is_covered(n) && judge(n, n + 1, rule, now, visitor) == n) return n;
    }
    return end;
  }
  void suspect(std::uint64_t begin, std::uint64_t end, Duration wait, Instant now) {
    if (deadline_.is_never()) {
      suspect_begin_ = begin;
      suspect_end_ = end;
      deadline_ = now + wait;
    } else if (end <= suspect_end_) {
      suspect_begin_ = std::min(suspect_begin_, begin);
    }
    later_suspect_end_ = std::max(later_suspect_end_, end);
  }

  Duration wait_;  // from the rule for the last report
  RangeSet unresolved_;
  RangeSet lost_;  // packets that were recently declared lost, to detect late arrivals
  std::uint64_t frontier_ = 0;
  Instant deadline_ = Instant::never();
  // The missing packets in [suspect_begin_, suspect_end_) are declared lost at the deadline.
  std::uint64_t suspect_begin_ = 0;
  std::uint64_t suspect_end_ = 0;
  std::uint64_t later_suspect_end_ = 0;  // number after the last packet that gets the next deadline
};

template <typename Visitor>
std::uint64_t LossDetector::handle_report(const FeedbackFrame& report, std::uint64_t from,
                                          const Rule& rule, Instant now, Visitor& visitor) {
  if (report.end > frontier_) {
    unresolved_.insert(frontier_, report.end);
    frontier_ = report.end;
  }
  if (from == kFromTheStart) {
    lost_.erase_below(std::min(report.begin, report.floor));
    // The peer no longer knows which packets below its floor have arrived. Assume that they are
    // lost. If that is wrong, it costs only bandwidth.
    const std::uint64_t floor = std::min(report.floor, frontier_);
    if (lose(0, floor, visitor) < floor) return kFromTheStart;
    wait_ = rule.wait;
  }
  std::span<const Range> spared = rule.repairable;
  std::uint64_t stop = kWhole;
  const auto looks_at = [&](std::uint64_t begin, std::uint64_t end) {
    if (stop != kWhole || end <= from) return false;
    if (!visitor.goes_on()) {
      stop = begin;
      return false;
    }
    visitor.looks();
    return true;
  };
  report.for_each_run(
      [&](std::uint64_t begin, std::uint64_t end) {
        begin = std::max(begin, from);
        if (!looks_at(begin, end)) return;
        std::uint64_t at = take(unresolved_, begin, end, visitor,
                                [&](std::uint64_t n) { visitor.acknowledged(n); });
        at = take(lost_, begin, at, visitor, [&](std::uint64_t n) { visitor.spurious(n); });
        if (at < end) stop = at;
      },
      [&](std::uint64_t begin, std::uint64_t end) {
        begin = std::max(begin, from);
        if (!looks_at(begin, end)) return;
        while (!spared.empty() && spared.front().end <= begin) spared = spared.subspan(1);
        for (const Range& range : spared) {
          if (range.begin >= end) break;
          if (range.begin > begin) {
            const std::uint64_t at = judge(begin, range.begin, rule, now, visitor);
            if (at < range.begin) {
              stop = at;
              return;
            }
          }
          begin = std::max(begin, range.begin);
          const std::uint64_t last = std::min(end, range.end);
          const std::uint64_t at = judge_uncovered(begin, last, rule, now, visitor);
          if (at < last) {
            stop = at;
            return;
          }
          begin = last;
        }
        const std::uint64_t at = judge(begin, end, rule, now, visitor);
        if (at < end) stop = at;
      });
  return stop;
}

template <typename Visitor>
void LossDetector::handle_timeout(Instant now, Visitor& visitor) {
  if (now < deadline_) return;
  const std::uint64_t stop = lose(suspect_begin_, suspect_end_, visitor);
  if (stop < suspect_end_) {
    suspect_begin_ = stop;
    return;
  }
  deadline_ = Instant::never();
  if (later_suspect_end_ > suspect_end_) {
    suspect_begin_ = suspect_end_;
    suspect_end_ = later_suspect_end_;
    deadline_ = now + wait_;
  }
}

}  // namespace satrelay::stp
