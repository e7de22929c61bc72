#include "pep/control/capacity/path_estimate.h"

#include <algorithm>

#include "pep/control/capacity/capacity_search.h"

namespace satrelay::control {
namespace {

constexpr Duration kRttMemory = Duration::seconds(10);
// The loss is averaged over about this many packets, but a single report has at most the weight
// kMostWeight.
constexpr double kLossMemory = 2000;
constexpr double kMostWeight = 0.5;
// Upper limit of the estimated loss.
constexpr double kMostLoss = 0.5;

}  // namespace

void PathEstimate::restart(Duration rtt, Instant now) {
  rtt_ = next_rtt_ = rtt;
  next_rtt_since_ = now;
  loss_ = 0;
}

void PathEstimate::add_rtt(Duration rtt, Instant now) {
  if (rtt <= Duration::zero()) return;
  if (now - next_rtt_since_ > kRttMemory) {
    rtt_ = next_rtt_;
    next_rtt_ = rtt;
    next_rtt_since_ = now;
  }
  next_rtt_ = std::min(next_rtt_, rtt);
  rtt_ = std::min(rtt_, rtt);
}

void PathEstimate::add_packets(std::uint64_t packets, std::uint64_t lost) {
  if (packets == 0) return;
  const auto all = static_cast<double>(packets);
  const double weight = std::min(all / kLossMemory, kMostWeight);
  loss_ += weight * (static_cast<double>(lost) / all - loss_);
}

BitRate PathEstimate::sent_for(BitRate arrived, BitRate most) const {
  const BitRate sent = rate_of(bits(arrived) / (1 - std::min(loss_, kMostLoss)));
  return std::clamp(sent, kLeastCapacity, most);
}

}  // namespace satrelay::control
