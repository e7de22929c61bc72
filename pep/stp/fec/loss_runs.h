// The lengths of runs in which a path loses packets, as the peer's reports first show them. Later
// reports count packets that were repaired soon after as received.
#pragma once

#include <algorithm>
#include <cstdint>

#include "pep/stp/wire/feedback_frame.h"

namespace satrelay::stp {

class LossRuns {
 public:
  void on_report(const FeedbackFrame& report) {
    if (report.end <= seen_) return;
    report.for_each_run([](std::uint64_t, std::uint64_t) {},
                        [this](std::uint64_t begin, std::uint64_t end) {
                          begin = std::max(begin, seen_);
                          if (begin >= end || end - begin >= kOutage) return;
                          // A run that goes on was counted when it began.
                          if (begin != run_end_) ++runs_;
                          run_end_ = end;
                          packets_ += static_cast<double>(end - begin);
                        });
    seen_ = report.end;
    if (runs_ > kWindow) {
      packets_ /= 2;
      runs_ /= 2;
    }
  }
  // The mean length of a run in packets, at least 1. While nothing is known, one run of one packet
  // counts.
  double mean() const { return std::max(1.0, (packets_ + 1) / (runs_ + 1)); }
  // Forgets all runs. No packet below `number` counts any more.
  void forget_below(std::uint64_t number) {
    clear();
    seen_ = number;
  }
  void clear() { *this = {}; }

 private:
  static constexpr double kWindow = 200;  // number of runs that count
  // Unit: packets. Such a run is an outage, and does not count.
  static constexpr std::uint64_t kOutage = 64;
  std::uint64_t seen_ = 0;
  std::uint64_t run_end_ = ~std::uint64_t{0};
  double packets_ = 0;
  double runs_ = 0;
};

}  // namespace satrelay::stp
