// Reports of the peer that settle more packets than one call may: the first of them is being worked
// off, the others wait. Few are kept; what is dropped stands in the reports that follow.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "pep/base/time.h"
#include "pep/stp/packets/loss_detector.h"
#include "pep/stp/wire/feedback_frame.h"

namespace satrelay::stp {

// A report, and what has been done of it.
struct PendingReport {
  FeedbackFrame report;
  Duration rtt = Duration::zero();       // that it shows, if any
  Duration lateness = Duration::zero();  // of its newest packet, as far as it is no queue's
  std::uint64_t from = LossDetector::kFromTheStart;
  std::uint64_t delivered = 0;  // packets
};

class ReportBacklog {
 public:
  static constexpr std::size_t kMost = 8;

  // No packet is longer than `longest`: each place allocates when it is first used, and never
  // again.
  explicit ReportBacklog(std::size_t longest) : longest_(longest) {}
  bool empty() const { return count_ == 0; }
  // There is one.
  PendingReport& front() { return entries_[first_].pending; }
  void pop() {
    first_ = (first_ + 1) % kMost;
    --count_;
  }
  // Its runs are copied; false if there is no place.
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
