// How much repair a block of packets deserves: from what the path has lost lately, with a prior for
// a path that nobody has measured yet. Knows nothing of blocks or frames.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "pep/base/time.h"
#include "pep/base/units.h"
#include "pep/stp/fec/fec_codec.h"

namespace satrelay::stp {

class FecPolicy {
 public:
  // A block of which more is lost than it has repairs.
  static constexpr double kResidual = 1e-4;

  // What reports say: packets that arrived, and those that the path lost, repaired or not.
  void on_report(std::uint64_t delivered, std::uint64_t lost) {
    packets_ += static_cast<double>(delivered + lost);
    losses_ += static_cast<double>(lost);
    if (packets_ > kWindow) {
      losses_ *= kWindow / packets_;
      packets_ = kWindow;
    }
  }
  // Of those lost, so many were not lost by the path.
  void on_excused(std::uint64_t packets) {
    losses_ = std::max(0.0, losses_ - static_cast<double>(packets));
  }
  // Enough was seen, and of all that nothing was lost.
  bool is_clean() const { return packets_ >= kEnough && losses_ < 0.5; }
  // Upper 95% confidence bound of the loss: a beta posterior, taken as normal.
  double loss_bound() const {
    const double n = packets_ + kPriorPackets;
    const double mean = (losses_ + kPriorLosses) / n;
    return std::min(0.5, mean + 1.645 * std::sqrt(mean * (1 - mean) / n));
  }
  // Repairs that `sources` packets need, so that the chance of losing more packets of the block
  // than that is below kResidual; never more than a sane share.
  std::size_t repairs_for(std::size_t sources) const {
    if (sources == 0 || is_clean()) return 0;
    const std::size_t most = std::min(FecCodec::kMaxRepairs, sources / 2 + 2);
    const double p = loss_bound();
    for (std::size_t repairs = 1; repairs < most; ++repairs) {
      if (lose_more_than(repairs, sources + repairs, p) <= kResidual) return repairs;
    }
    return most;
  }
  // A stream's first bytes are protected, since it may end with them: as many as the carrier sends
  // in a round trip, beyond which a loss costs a short part of the whole, and a little more than a
  // megabyte at most.
  static std::uint64_t short_flow(BitRate rate, Duration round_trip) {
    return std::clamp(rate.bytes_in(round_trip).value(), kLeastShortFlow, kMostShortFlow);
  }
  void clear() { packets_ = losses_ = 0; }

 private:
  static constexpr std::uint64_t kLeastShortFlow = 128 * 1024;
  static constexpr std::uint64_t kMostShortFlow = 1280 * 1024;
  static constexpr double kWindow = 10'000;  // packets that count
  static constexpr double kEnough = 1'000;
  // Before anything is measured: one in a hundred, with the weight of a hundred packets.
  static constexpr double kPriorPackets = 100;
  static constexpr double kPriorLosses = 1;

  // Upper tail of the binomial distribution.
  static double lose_more_than(std::size_t most, std::size_t packets, double p) {
    const double odds = p / (1 - p);
    double term = std::pow(1 - p, static_cast<double>(packets));
    double sum = term;
    for (std::size_t i = 1; i <= most; ++i) {
      term *= odds * static_cast<double>(packets - i + 1) / static_cast<double>(i);
      sum += term;
    }
    return 1 - sum;
  }
  double packets_ = 0;
  double losses_ = 0;
};

}  // namespace satrelay::stp
