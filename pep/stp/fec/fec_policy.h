// Decides how many repairs a window of packets gets. The decision depends on how much the path has
// recently lost, on the length of its runs of losses, and on a prior for a path without
// measurements. This class does not know windows or frames.
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
  static constexpr std::size_t kMostRepairs = 160;  // per window
  // The chance that a window loses more packets than it has repairs, if losses are independent. At
  // 50 Mbit/s, a flight consists of four windows.
  static constexpr double kResidual = 2.5e-4;
  // The same chance, if losses occur in runs of `run` packets on average. More than ten packets
  // count as ten. The chance is higher for longer runs: a further repair would take the same time
  // as without runs, but would lower the chance by less.
  static double residual(double run) {
    const double counted = std::min(run, 10.0);
    return kResidual * counted * std::sqrt(counted);
  }

  // Counts reported packets: those that arrived, and those that the path lost. A lost packet counts
  // as lost even if it was repaired.
  void on_report(std::uint64_t delivered, std::uint64_t lost);
  // Reduces the count of losses by `packets`, as these packets were not lost by the path.
  void on_excused(std::uint64_t packets) {
    losses_ = std::max(0.0, losses_ - static_cast<double>(packets));
  }
  // Sets the mean length of runs of losses in packets, at least 1.
  void set_run_length(double packets) { run_ = packets; }

  // Whether reports have covered at least kPriorPackets packets.
  bool is_measured() const { return packets_ >= kPriorPackets; }
  // Whether enough packets were reported, and none of them was lost.
  bool is_clean() const { return packets_ >= kEnough && losses_ < 0.5; }
  double loss() const { return (losses_ + kPriorLosses) / (packets_ + kPriorPackets); }
  // The upper 95% confidence bound of the loss. The beta posterior is approximated by a normal
  // distribution. If packets are lost in runs, each packet carries less information.
  double loss_bound() const;
  // Returns the number of repairs for a window of `sources` packets. The chance that more packets
  // than this number are lost, including repairs, is at most residual(). The result is limited in
  // proportion to `sources`. It is kMostRepairs + 1 if the window is too long.
  std::size_t repairs_for(std::size_t sources) const;
  // The largest number of packets, up to `most`, for which `repairs` are enough.
  std::size_t sources_for(std::size_t repairs, std::size_t most) const;

  // A stream that has sent less than this number of bytes may still be short, even if it has sent
  // more than its share of a flight.
  static constexpr std::uint64_t kLeastShortFlow = 128 * 1024;
  // A stream that has sent this number of bytes is no longer short, so repairs do not wait for its
  // bytes any more.
  static constexpr std::uint64_t kMostShortFlow = 1280 * 1024;
  void clear() { *this = {}; }

 private:
  // A window gets at most these repairs: half the number of its packets, plus kLeastShare, plus
  // kShareOfRun for each packet of a mean run beyond the first. The last term is limited to a
  // quarter of the number of packets.
  static constexpr double kLeastShare = 6;
  static constexpr double kShareOfRun = 4;
  static constexpr double kWindow = 10'000;  // number of packets in the average
  static constexpr double kEnough = 1'000;
  // The prior: a loss of 1%, with the weight of a hundred packets.
  static constexpr double kPriorPackets = 100;
  static constexpr double kPriorLosses = 1;
  // Until kPriorPackets are measured, windows longer than kShortWindow get repairs for this assumed
  // loss, because a flow of less than a round trip ends before the first report on it. Short
  // windows get fewer repairs, because most flows are short, and most paths lose less.
  static constexpr double kUnknownLoss = 0.05;
  static constexpr std::size_t kShortWindow = 64;

  double packets_ = 0;
  double losses_ = 0;
  double run_ = 1;
};

}  // namespace satrelay::stp
