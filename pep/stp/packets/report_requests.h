// When the peer is asked for a report (PING), and what it has been told to report no more
// (docs/stp.md section 7).
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

#include "pep/base/time.h"

namespace satrelay::stp {

class ReportRequests {
 public:
  // After so many packets that nobody need report, one asks for a report: else the peer would never
  // settle a sender of feedback.
  static constexpr int kMaxUnasked = 32;

  explicit ReportRequests(Instant now) : last_(now) {}

  // A PING is to leave.
  void ask() { due_ = true; }
  bool due() const { return due_; }
  bool take() { return std::exchange(due_, false); }

  // All reports about some packets were lost, the newest of them `newest`: asks at once for a new
  // hole, and again when the answer, which takes `answer`, must be lost as well.
  void on_missed(std::uint64_t newest, Duration answer, Instant now) {
    if (newest < asked_below_ && now < last_ + answer) return;
    ask();
    last_ = now;
    asked_below_ = std::max(asked_below_, newest + 1);
  }

  // A packet leaves: whether it should ask although nothing in it needs a report.
  bool on_unasked() { return ++unasked_ >= kMaxUnasked; }
  void on_asked() { unasked_ = 0; }

  // The peer is told that it need not report what lies below `settled`.
  std::uint64_t announce(std::uint64_t settled) { return announced_ = settled; }
  std::uint64_t announced() const { return announced_; }

 private:
  bool due_ = false;
  int unasked_ = 0;  // packets since the last one that wanted to be reported
  std::uint64_t asked_below_ = 0;
  Instant last_;  // asked for reports that were missed
  std::uint64_t announced_ = 0;
};

}  // namespace satrelay::stp
