// Reports of the peer that settle more packets than one call may settle. The calls work on the
// first report while the others wait. Few reports are kept. Later reports repeat what a dropped one
// said.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "pep/base/time.h"
#include "pep/stp/path/loss_detector.h"
#include "pep/stp/wire/feedback_frame.h"

namespace satrelay::stp {

// A time in a report or a RECEPTION. No time that a peer tells counts as more than a minute.
inline Duration report_time(std::uint64_t us) {
  constexpr std::uint64_t kMost = 60'000'000;
  return Duration::microseconds(static_cast<std::int64_t>(std::min(us, kMost)));
}

// A report, and how far it was applied.
struct PendingReport {
  FeedbackFrame report;
  Duration rtt = Duration::zero();  // RTT sample of the report; zero: none
  // How late its newest packet may be without a queue on the path.
  Duration lateness = Duration::zero();
  std::uint64_t from = LossDetector::kFromTheStart;
  std::uint64_t delivered = 0;  // packets
};

class ReportBacklog {
 public:
  static constexpr std::size_t kMost = 8;

  // No packet is longer than `longest`. Each place allocates once, at its first use.
  explicit ReportBacklog(std::size_t longest) : longest_(longest) {}
  bool empty() const { return count_ == 0; }
  // Requires that the backlog is not empty.
  PendingReport& front() { return entries_[first_].pending; }
  void pop() {
    first_ = (first_ + 1) % kMost;
    --count_;
  }
  // Copies the runs of the report; false if there is no place.
  [[nodiscard]] bool push(const PendingReport& pending) {
    if (count_ == kMost) return false;
    Entry& entry = entries_[(first_ + count_++) % kMost];
    entry.pending = pending;
    entry.runs.reserve(longest_);
    entry.runs.assign(pending.report.runs.begin(), pending.report.runs.end());
    entry.pending.report.runs = entry.runs;
    return true;
  }

 private:
  struct Entry {
    PendingReport pending;
    std::vector<std::byte> runs;
  };
  std::size_t longest_;
  std::array<Entry, kMost> entries_;
  std::size_t first_ = 0;
  std::size_t count_ = 0;
};

}  // namespace satrelay::stp
