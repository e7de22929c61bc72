// How much repair a window of packets deserves: from what the path has lost lately, and in which
// runs, with a prior for a path that nobody has measured yet. Knows nothing of windows or frames.
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
  static constexpr std::size_t kMostRepairs = 160;  // of a window
  // The chance that more of a window is lost than it has repairs, where losses come one by one;
  // four windows make up the flight of 50 Mbit/s.
  static constexpr double kResidual = 2.5e-4;
  // The same where a run has so many packets on the mean, up to ten. Each repair more lowers the
  // chance by less then, and costs the same time.
  static double residual(double run) {
    const double counted = std::min(run, 10.0);
    return kResidual * counted * std::sqrt(counted);
  }

  // What reports say: packets that arrived, and those that the path lost, repaired or not.
  void on_report(std::uint64_t delivered, std::uint64_t lost);
  // Of those lost, so many were not lost by the path.
  void on_excused(std::uint64_t packets) {
    losses_ = std::max(0.0, losses_ - static_cast<double>(packets));
  }
  // Packets that a run of losses has on the mean, at least 1.
  void set_run_length(double packets) { run_ = packets; }

  // A report or more has come, and not of a few packets.
  bool is_measured() const { return packets_ >= kPriorPackets; }
  // Enough was seen, and of all that nothing was lost.
  bool is_clean() const { return packets_ >= kEnough && losses_ < 0.5; }
  double loss() const { return (losses_ + kPriorLosses) / (packets_ + kPriorPackets); }
  // Upper 95% confidence bound of it: a beta posterior, taken as normal. Packets that are lost in
  // runs say less each.
  double loss_bound() const;
  // Repairs that `sources` packets need, so that the chance that more packets are lost of both
  // together is below residual(); never more than a sane share. Beyond kMostRepairs: one more, the
  // window is too long.
  std::size_t repairs_for(std::size_t sources) const;
  // The most packets for which so many repairs are enough, up to `most`.
  std::size_t sources_for(std::size_t repairs, std::size_t most) const;

  // So many of the first bytes of a stream are protected in any case, since it may end with them.
  static constexpr std::uint64_t kLeastShortFlow = 128 * 1024;
  // Repairs wait for other short flows while their stream has sent no more than this.
  static constexpr std::uint64_t kMostShortFlow = 1280 * 1024;
  void clear() { *this = {}; }

 private:
  // A window gets at most half its packets as repairs, these, and so many times the length of a run
  // up to a quarter of its packets.
  static constexpr double kLeastShare = 6;
  static constexpr double kShareOfRun = 4;
  static constexpr double kWindow = 10'000;  // packets that count
  static constexpr double kEnough = 1'000;
  // Before anything is measured: one in a hundred, with the weight of a hundred packets.
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
