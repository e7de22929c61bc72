// How much repair a window of packets deserves: from what the path has lost lately, and in which
// runs, with a prior for a path that nobody has measured yet. Knows nothing of windows or frames.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "pep/base/time.h"
#include "pep/base/units.h"

namespace satrelay::stp {

class FecPolicy {
 public:
  static constexpr std::size_t kMostRepairs = 160;  // of a window
  // A window of which more is lost than it has repairs; four make up the flight of 50 Mbit/s.
  static constexpr double kResidual = 2.5e-4;

  // What reports say: packets that arrived, and those that the path lost, repaired or not.
  void on_report(std::uint64_t delivered, std::uint64_t lost);
  // Of those lost, so many were not lost by the path.
  void on_excused(std::uint64_t packets) {
    losses_ = std::max(0.0, losses_ - static_cast<double>(packets));
  }
  // Packets that a run of losses has on the mean, at least 1.
  void set_run_length(double packets) { run_ = packets; }

  // Enough was seen, and of all that nothing was lost.
  bool is_clean() const { return packets_ >= kEnough && losses_ < 0.5; }
  double loss() const { return (losses_ + kPriorLosses) / (packets_ + kPriorPackets); }
  // Upper 95% confidence bound of it: a beta posterior, taken as normal. Packets that are lost in
  // runs say less each.
  double loss_bound() const;
  // Repairs that `sources` packets need, so that the chance that more packets are lost of both
  // together is below kResidual; never more than a sane share.
  std::size_t repairs_for(std::size_t sources) const;
  // The most packets for which so many repairs are enough, up to `most`.
  std::size_t sources_for(std::size_t repairs, std::size_t most) const;

  // A stream's first bytes are protected, since it may end with them: as many as it sends in a
  // round trip, beyond which a loss costs a short part of the whole, and a little more than a
  // megabyte at most.
  static std::uint64_t short_flow(ByteCount in_a_round_trip) {
    return std::clamp(in_a_round_trip.value(), kLeastShortFlow, kMostShortFlow);
  }
  void clear() { *this = {}; }

 private:
  static constexpr std::uint64_t kLeastShortFlow = 128 * 1024;
  static constexpr std::uint64_t kMostShortFlow = 1280 * 1024;
  static constexpr double kWindow = 10'000;  // packets that count
  static constexpr double kEnough = 1'000;
  // Before anything is measured: one in a hundred, with the weight of a hundred packets.
  static constexpr double kPriorPackets = 100;
  static constexpr double kPriorLosses = 1;

  double packets_ = 0;
  double losses_ = 0;
  double run_ = 1;
};

}  // namespace satrelay::stp
