// Keeps reports of the peer that one call cannot process completely. Each call continues with the
// oldest report. At most kMost reports are kept. Further reports are dropped, which is possible
// because later reports have the same content.
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

// Converts a time from a report or a RECEPTION. Times above one minute count as one minute.
inline Duration report_time(std::uint64_t us) {
  constexpr std::uint64_t kMost = 60'000'000;
  return Duration::microseconds(static_cast<std::int64_t>(std::min(us, kMost)));
}

// A report, and how far it was processed.
struct PendingReport {
  FeedbackFrame report;
  Duration rtt = Duration::zero();  // RTT sample of the report; zero if there is none
  // Maximum delay of the newest packet of the report that was not caused by a queue on the path.
  Duration lateness = Duration::zero();
  std::uint64_t from = LossDetector::kFromTheStart;
  std::uint64_t delivered = 0;  // number of packets
};

class ReportBacklog {
 public:
  static constexpr std::size_t kMost = 8;

  // `longest` is the size of the longest packet. Each slot allocates memory once, when it is first
  // used.
  explicit ReportBacklog(std::size_t longest) : longest_(longest) {}
  bool empty() const { return count_ == 0; }
  // The backlog must not be empty.
  PendingReport& front() { return entries_[first_].pending; }
  void pop() {
    first_ = (first_ + 1) % kMost;
    --count_;
  }
  // Stores the report with a copy of its runs. Returns false if no slot is free.
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
