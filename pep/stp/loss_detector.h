// Decides from feedback alone which packets arrived and which are lost (docs/stp.md section 7).
//
// Packets are settled (known to have arrived, or declared lost) or not. Unsettled ones are those of
// unresolved_, all below frontier_, and everything sent from frontier_ on, of which no report has
// spoken yet. So a report costs O(its ranges + newly settled packets), whatever is in flight.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "pep/base/range_set.h"
#include "pep/base/time.h"
#include "pep/stp/frames.h"

namespace satrelay::stp {

class LossDetector {
 public:
  // What separates a loss from mere disorder (reorder_tolerance.h).
  struct Rule {
    std::uint64_t uncertain = 0;  // missing packets below it are lost
    Duration wait;                // and those above it if nothing is heard of them for so long
    // What is missing of these may be repaired yet, a later report tells; ascending and disjoint.
    std::span<const Range> repairable = {};
  };

  std::uint64_t oldest_unresolved() const {
    return unresolved_.empty() ? frontier_ : unresolved_.ranges().front().begin;
  }
  std::uint64_t frontier() const { return frontier_; }
  bool is_unresolved(std::uint64_t number) const {
    return number >= frontier_ || unresolved_.contains(number);
  }
  // There is one.
  std::uint64_t newest_unresolved_below(std::uint64_t number) const {
    const auto ranges = unresolved_.ranges();
    std::size_t i = unresolved_.first_ending_after(number);
    if (i < ranges.size() && ranges[i].begin < number) return number - 1;
    return i > 0 ? ranges[i - 1].end - 1 : 0;
  }
  // When a packet that was reported missing, but may yet be only late, counts as lost.
  Instant deadline() const { return deadline_; }

  // `report.highest` has been sent. The visitor has acknowledged(n), lost(n) and spurious(n): a
  // packet declared lost earlier that arrived after all. It must not call back.
  template <typename Visitor>
  void handle_report(const FeedbackFrame& report, const Rule& rule, Instant now, Visitor& visitor);
  template <typename Visitor>
  void handle_timeout(Instant now, Visitor& visitor);
  // Gives up on one packet, whatever becomes of it.
  template <typename Visitor>
  void abandon_below(std::uint64_t number, Visitor& visitor) {
    if (number > frontier_) {
      unresolved_.insert(frontier_, number);
      frontier_ = number;
    }
    lose(0, number, visitor);
  }
  void clear() {
    unresolved_.clear();
    lost_.clear();
    frontier_ = 0;
    deadline_ = Instant::never();
    suspect_end_ = later_suspect_end_ = 0;
  }

 private:
  // Calls function(n) for the members of `set` within [begin, end) and takes them out.
  template <typename Function>
  static void take(RangeSet& set, std::uint64_t begin, std::uint64_t end, Function&& function) {
    if (begin >= end || set.empty()) return;
    const auto ranges = set.ranges();
    bool any = false;
    for (std::size_t i = set.first_ending_after(begin); i < ranges.size() && ranges[i].begin < end;
         ++i) {
      any = true;
      const std::uint64_t last = std::min(ranges[i].end, end);
      for (std::uint64_t n = std::max(ranges[i].begin, begin); n < last; ++n) function(n);
    }
    if (any) set.erase(begin, end);
  }
  template <typename Visitor>
  void lose(std::uint64_t begin, std::uint64_t end, Visitor& visitor) {
    take(unresolved_, begin, end, [&](std::uint64_t n) {
      visitor.lost(n);
      lost_.insert(n, n + 1);
    });
  }
  // Reported missing.
  template <typename Visitor>
  void judge(std::uint64_t begin, std::uint64_t end, const Rule& rule, Instant now,
             Visitor& visitor) {
    if (begin >= end) return;
    lose(begin, std::min(end, rule.uncertain), visitor);
    if (end > rule.uncertain && unresolved_.contains(end - 1)) {
      suspect(std::max(begin, rule.uncertain), end, rule.wait, now);
    }
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

  Duration wait_;  // of the last report's rule
  RangeSet unresolved_;
  RangeSet lost_;  // recently declared lost, to notice that it was wrong
  std::uint64_t frontier_ = 0;
  Instant deadline_ = Instant::never();
  std::uint64_t suspect_begin_ = 0;  // what the deadline is about
  std::uint64_t suspect_end_ = 0;
  std::uint64_t later_suspect_end_ = 0;  // what has become suspect since
};

template <typename Visitor>
void LossDetector::handle_report(const FeedbackFrame& report, const Rule& rule, Instant now,
                                 Visitor& visitor) {
  if (report.end > frontier_) {
    unresolved_.insert(frontier_, report.end);
    frontier_ = report.end;
  }
  lost_.erase_below(std::min(report.begin, report.floor));
  // The far side has forgotten what lies below its floor: assume the worst, which costs only
  // bandwidth.
  lose(0, std::min(report.floor, frontier_), visitor);
  wait_ = rule.wait;
  std::span<const Range> spared = rule.repairable;
  report.for_each_run(
      [&](std::uint64_t begin, std::uint64_t end) {
        take(unresolved_, begin, end, [&](std::uint64_t n) { visitor.acknowledged(n); });
        take(lost_, begin, end, [&](std::uint64_t n) { visitor.spurious(n); });
      },
      [&](std::uint64_t begin, std::uint64_t end) {
        while (!spared.empty() && spared.front().end <= begin) spared = spared.subspan(1);
        for (const Range& range : spared) {
          if (range.begin >= end) break;
          judge(begin, range.begin, rule, now, visitor);
          begin = std::max(begin, range.end);
        }
        judge(begin, end, rule, now, visitor);
      });
}

template <typename Visitor>
void LossDetector::handle_timeout(Instant now, Visitor& visitor) {
  if (now < deadline_) return;
  lose(suspect_begin_, suspect_end_, visitor);
  deadline_ = Instant::never();
  if (later_suspect_end_ > suspect_end_) {
    suspect_begin_ = suspect_end_;
    suspect_end_ = later_suspect_end_;
    deadline_ = now + wait_;
  }
}

}  // namespace satrelay::stp
