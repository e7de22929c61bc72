#include "pep/control/capacity/finder/link_model.h"

#include <algorithm>

#include "pep/control/capacity/capacity_search.h"
#include "pep/control/paced_rate.h"

namespace satrelay::control {
namespace {

constexpr Duration kLeastRtt = Duration::milliseconds(1);
// A queue counts as standing if it delays all packets for a whole round trip, or for this time if
// the round trip is shorter.
constexpr Duration kLeastSpan = Duration::milliseconds(250);
// A standing queue is drained within one and a half round trips, but in no less than this time.
constexpr Duration kLeastRemoval = Duration::milliseconds(300);

}  // namespace

void LinkModel::add(const FeedbackSample& sample) {
  const DelayTrend::Point point = point_of(sample);
  trends.add(point);
  queue.add(point, std::max(rtt(), kLeastSpan));
}

Duration LinkModel::rtt() const { return std::max(path.rtt(), kLeastRtt); }

BitRate LinkModel::sustained_rate() const {
  const BitRate most = std::max(paced_rate(ceiling), kLeastCapacity);
  return std::clamp(rate, kLeastCapacity, most);
}

Duration LinkModel::queue_of(const FeedbackSample& sample) const {
  return sample.arrived - sample.sent - queue.path();
}

std::optional<BitRate> LinkModel::growth() const {
  // Below this sending rate, our packets cannot fill a queue. So another cause makes the delay
  // grow: the path has become longer in several steps.
  const BitRate least = sustained_rate().scaled(1, kIdleShare);
  for (const DelayTrend* trend : {&trends.quick, &trends.slow}) {
    if (!trend->grows()) continue;
    const auto arrived = trend->arrival_rate();
    if (arrived && trend->sending_rate() >= least) return arrived;
  }
  return std::nullopt;
}

double LinkModel::excess() const {
  const Duration removal = std::max(rtt() + rtt() / 2, kLeastRemoval);
  return bits(capacity) * queue.length().to_seconds() / removal.to_seconds();
}

}  // namespace satrelay::control
