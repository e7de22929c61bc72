// Measures how many packets in a row a path loses, by the first report on each packet. Later
// reports are not used, since they count repaired packets as received.
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
                          // If a run has begun in an earlier report, it was counted then.
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
  // The mean length of a run in packets, at least 1. At first, one run of one packet is assumed.
  double mean() const { return std::max(1.0, (packets_ + 1) / (runs_ + 1)); }
  // Forgets all runs. Packets below `number` do not count any more.
  void forget_below(std::uint64_t number) {
    clear();
    seen_ = number;
  }
  void clear() { *this = {}; }

 private:
  static constexpr double kWindow = 200;  // number of runs in the average
  // A run of this number of packets or more is an outage, and does not count.
  static constexpr std::uint64_t kOutage = 64;
  std::uint64_t seen_ = 0;
  std::uint64_t run_end_ = ~std::uint64_t{0};
  double packets_ = 0;
  double runs_ = 0;
};

}  // namespace satrelay::stp
