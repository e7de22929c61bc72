// How many repairs a window of packets deserves: from what the path has lost lately, in which runs,
// and a prior for a path without measurements. This class does not know windows or frames.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "pep/base/time.h"
#include "pep/base/units.h"

namespace satrelay::stp {

class FecPolicy {
 public:
  static constexpr std::size_t kMostRepairs = 160;  // of one window
  // The chance that a window loses more packets than it has repairs, if losses come one by one.
  // Four windows make up the flight at 50 Mbit/s.
  static constexpr double kResidual = 2.5e-4;
  // The same if a run has so many packets on the mean, up to ten. In runs each further repair
  // lowers the chance by less, and costs the same time.
  static double residual(double run) {
    const double counted = std::min(run, 10.0);
    return kResidual * counted * std::sqrt(counted);
  }

  // From reports: packets that arrived, and packets that the path lost, repaired or not.
  void on_report(std::uint64_t delivered, std::uint64_t lost);
  // So many of the lost packets were not lost by the path.
  void on_excused(std::uint64_t packets) {
    losses_ = std::max(0.0, losses_ - static_cast<double>(packets));
  }
  // The mean length of a run of losses in packets, at least 1.
  void set_run_length(double packets) { run_ = packets; }

  // Reports have covered more than a few packets.
  bool is_measured() const { return packets_ >= kPriorPackets; }
  // Enough packets were seen, and none of them was lost.
  bool is_clean() const { return packets_ >= kEnough && losses_ < 0.5; }
  double loss() const { return (losses_ + kPriorLosses) / (packets_ + kPriorPackets); }
  // The upper 95% confidence bound of the loss: a beta posterior, taken as normal. Packets that are
  // lost in runs carry less information each.
  double loss_bound() const;
  // Repairs for `sources` packets, so that the chance that more packets of both together are lost
  // is below residual(). Limited to a share of the packets. kMostRepairs + 1: the window is too
  // long.
  std::size_t repairs_for(std::size_t sources) const;
  // The most packets, up to `most`, for which so many repairs are enough.
  std::size_t sources_for(std::size_t repairs, std::size_t most) const;

  // So many of the first bytes of a stream are protected in any case, since the stream may end with
  // them.
  static constexpr std::uint64_t kLeastShortFlow = 128 * 1024;
  // Repairs wait for the bytes of a short flow only while its stream has sent less than this.
  static constexpr std::uint64_t kMostShortFlow = 1280 * 1024;
  void clear() { *this = {}; }

 private:
  // A window gets at most these repairs: half its packets, kLeastShare more, and kShareOfRun for
  // each packet of a mean run beyond the first. That last part is limited to a quarter of its
  // packets.
  static constexpr double kLeastShare = 6;
  static constexpr double kShareOfRun = 4;
  static constexpr double kWindow = 10'000;  // number of packets that count
  static constexpr double kEnough = 1'000;
  // The prior: a loss of one in a hundred, with the weight of a hundred packets.
  static constexpr double kPriorPackets = 100;
  static constexpr double kPriorLosses = 1;
  // Until kPriorPackets were measured, windows longer than kShortWindow get repairs for this loss:
  // a flow of less than a round trip is over before the first report on it. Short windows do not,
  // as most flows are short and most paths lose less.
  static constexpr double kUnknownLoss = 0.05;
  static constexpr std::size_t kShortWindow = 64;

  double packets_ = 0;
  double losses_ = 0;
  double run_ = 1;
};

}  // namespace satrelay::stp
