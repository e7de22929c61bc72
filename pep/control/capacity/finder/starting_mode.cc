#include "pep/control/capacity/finder/starting_mode.h"

#include <algorithm>

#include "pep/control/capacity/capacity_search.h"

namespace satrelay::control {
namespace {

// Number of packets in the first train, which is sent at once. The first sending rate carries the
// same number of packets in a round trip.
constexpr std::uint64_t kFirstPackets = 16;
// The longest pause after a train, even if the rate is still low. It is long enough for the
// receiver to report the train.
constexpr Duration kStartingRest = Duration::milliseconds(50);
// Maximum factor by which the result of one train raises the rate in this mode.
constexpr std::uint64_t kGrowth = 16;
// The highest rate before a train has a result.
constexpr BitRate kMostBlind = BitRate::bits_per_second(10'000'000);
constexpr double kUnusualLoss = 0.1;
constexpr double kChance = 3;  // packets that may be lost by chance, beyond kUnusualLoss

}  // namespace

StartingMode::StartingMode(LinkModel& link, ByteCount packet)
    : FinderMode(link, {.least_packets = kFirstPackets,
                        .longest_rest = kStartingRest,
                        .period = Duration::zero()}) {
  const auto first_bits = static_cast<double>(packet.value() * kFirstPackets) * 8;
  link_.rate = rate_of(first_bits / link_.rtt().to_seconds());
}

FinderMode::Change StartingMode::on_growth(BitRate arrived, const FeedbackSample&) {
  return Next{Kind::kDraining, link_.despite_loss(arrived)};
}

FinderMode::Change StartingMode::on_finding(const PacketTrain::Finding& finding,
                                            const FeedbackSample&) {
  const BitRate most = std::min(link_.rate.scaled(kGrowth, 1), link_.ceiling);
  if (finding.exact && finding.rate.scaled(9, 10) <= most) {
    if (finding.steady) link_.findings.add(finding.rate);
    return Next{Kind::kCruising, finding.rate};
  }
  link_.rate = std::max(link_.rate, std::min(finding.rate, most));
  if (link_.rate < link_.ceiling.scaled(kUsedPercent, 100)) return std::nullopt;
  return Next{Kind::kCruising, link_.ceiling};
}

// If many packets are lost, the trains of a slow session may be too short to have a result. So the
// rate also grows without a result, up to kMostBlind.
void StartingMode::on_miss(const FeedbackSample& sample) {
  const bool may_grow = sample.interval < kRareReports && link_.queue.length() < kLeastStanding &&
                        link_.rate < kMostBlind;
  if (may_grow) link_.rate = std::min({link_.rate.scaled(2, 1), kMostBlind, link_.ceiling});
}

FinderMode::Change StartingMode::on_arrival(BitRate arrived, const FeedbackSample& sample) {
  const auto lost = static_cast<double>(sample.packets_lost);
  const double packets = lost + static_cast<double>(sample.packets_delivered);
  const bool unusual = lost > packets * (link_.path.loss() + kUnusualLoss) + kChance;
  if (unusual || link_.queue.length() > DrainedQueue::kLongestOwn) {
    return Next{Kind::kCruising, arrived};
  }
  link_.rate = std::max(link_.rate,
                        std::min({link_.rate.scaled(2, 1), arrived.scaled(3, 1), link_.ceiling}));
  return std::nullopt;
}

}  // namespace satrelay::control
