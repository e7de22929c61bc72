// Decides when to ask the peer for a report (PING), and below which packet number the peer need not
// report any more (docs/stp.md section 7).
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

#include "pep/base/time.h"

namespace satrelay::stp {

class ReportRequests {
 public:
  // After this number of packets without an eliciting frame (a frame that asks for a report), a
  // packet asks for a report. Otherwise, if an end sends only feedback, its packets would never be
  // settled.
  static constexpr int kMaxUnasked = 32;

  explicit ReportRequests(Instant now) : last_(now) {}

  // Requests a PING.
  void ask() { due_ = true; }
  bool due() const { return due_; }
  bool take() { return std::exchange(due_, false); }

  // All reports about some packets were lost; `newest` is the newest of these packets. If no PING
  // has asked for a report about it, a PING is sent at once. Otherwise, another PING is sent if no
  // answer has arrived within `answer`.
  void on_missed(std::uint64_t newest, Duration answer, Instant now) {
    if (newest < asked_below_ && now < last_ + answer) return;
    ask();
    last_ = now;
    asked_below_ = std::max(asked_below_, newest + 1);
  }

  // A packet without an eliciting frame is sent. Returns true if it should ask for a report.
  bool on_unasked() { return ++unasked_ >= kMaxUnasked; }
  void on_asked() { unasked_ = 0; }

  // Notes that a frame tells the peer that packets below `settled` need no further report.
  std::uint64_t announce(std::uint64_t settled) { return announced_ = settled; }
  std::uint64_t announced() const { return announced_; }

 private:
  bool due_ = false;
  int unasked_ = 0;  // packets since the last eliciting packet
  std::uint64_t asked_below_ = 0;
  Instant last_;  // when the last PING for missed reports was requested
  std::uint64_t announced_ = 0;
};

}  // namespace satrelay::stp
