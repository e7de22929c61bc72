#include "pep/control/capacity/room_search.h"

#include <algorithm>

namespace satrelay::control {
namespace {

// A burst is so long that it makes a queue of this length if the link carries no more than the
// found capacity. But a burst lasts for at most kLongestProbe, and has at least kLeastProbePackets
// packets.
constexpr Duration kProbeQueue = Duration::milliseconds(12);
constexpr std::uint64_t kLeastProbePackets = 2;
constexpr Duration kLongestProbe = Duration::milliseconds(100);
// A burst ends if no packet follows for the time that a packet takes, plus this time.
constexpr Duration kProbeGap = Duration::milliseconds(3);
// A result below this percentage of the found capacity changes nothing.
constexpr std::uint64_t kNewsPercent = 103;
constexpr Duration kBetweenProbes = Duration::milliseconds(300);
// Each rise of the rate that was too large doubles the time between bursts, up to this time.
constexpr Duration kMostBetweenProbes = Duration::seconds(2);
constexpr std::uint64_t kCarefulRise = 25, kLargestRise = 10'000;
// The least delay within this time counts as the delay of the path without a queue.
constexpr Duration kLately = Duration::seconds(2);
constexpr Duration kWrongRise = Duration::seconds(3);

}  // namespace

void RoomSearch::on_cut(bool trusted, Duration rtt, Instant now) {
  const bool was_wrong = !raised_.is_never() && now - raised_ < std::max(kWrongRise, rtt * 4);
  if (was_wrong) {
    pace_.step = kCarefulRise;
    pace_.patience = std::min(std::max(pace_.patience, kBetweenProbes) * 2, kMostBetweenProbes);
  } else if (trusted) {
    pace_ = {kBetweenProbes, kLargestRise};
  }
  clear();
}

void RoomSearch::begin(Duration rtt, Instant now) {
  next_probe_ = now + std::max(pace_.patience, rtt);
  clear();
}

std::optional<BitRate> RoomSearch::on_feedback(const FeedbackSample& sample, const Rates& rates,
                                               double loss) {
  const auto shown = probes_.on_feedback(sample, loss);
  if (!shown) return std::nullopt;
  const BitRate most = std::min(rates.found.scaled(100 + pace_.step, 100), rates.announced);
  const BitRate better = std::min(*shown, most);
  if (better < rates.found.scaled(kNewsPercent, 100)) return std::nullopt;
  raised_ = sample.now;
  pace_.step = std::min(pace_.step * 2, kLargestRise);
  return better;
}

// Orders a burst that is short enough to make only a short queue if the link carries no more than
// the found capacity.
void RoomSearch::probe(const Rates& rates, const DelayTrend& delays, Instant now) {
  if (now < next_probe_) return;
  const auto delay = delays.least_delay(now, kLately);
  if (!delay || !probes_.is_idle(now)) return;
  const BitRate found = rates.found, most = rates.most;
  const auto excess = most.to_bits_per_second() - std::min(most, found).to_bits_per_second();
  const Duration time = kProbeQueue * static_cast<std::int64_t>(found.to_bits_per_second() / 1000) /
                        static_cast<std::int64_t>(std::max<std::uint64_t>(excess / 1000, 1));
  probes_.order({.length = std::max(most.bytes_in(std::min(time, kLongestProbe)),
                                    packet_ * kLeastProbePackets),
                 .mean = found,
                 .gap = kProbeGap + most.time_for(packet_),
                 .delay = *delay});
  next_probe_ = now + pace_.patience;
}

}  // namespace satrelay::control
