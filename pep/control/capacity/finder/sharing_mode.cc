#include "pep/control/capacity/finder/sharing_mode.h"

#include <algorithm>

#include "pep/control/capacity/capacity_search.h"

namespace satrelay::control {
namespace {

constexpr std::uint64_t kSharingSpeed = 12;

// If other senders also fill the queue, a session that sends at half of the link's capacity loses
// at most this fraction of its packets.
constexpr double kOverload = 0.35;
constexpr Duration kOverloadTime = Duration::seconds(2);

// The amount by which left_ rises in one step, per mille of the capacity.
constexpr std::uint64_t kFirstStep = 20, kLargestStep = 160;
// left_ does not rise for this time, so that another sender can reach its half of the capacity.
constexpr Duration kShareTime = Duration::seconds(6);
constexpr Duration kAloneTime = Duration::seconds(2);

}  // namespace

// Trains are faster in this mode. Other senders would send packets between the packets of a slow
// train, and delay the train.
SharingMode::SharingMode(LinkModel& link, BitRate left, const FeedbackSample& sample)
    : FinderMode(link, {.more_speed = kSharingSpeed}), overload_from_(point_of(sample)) {
  // Uses the capacity that was found before the rate fell, if there is one.
  const std::size_t found = link_.findings.count();
  if (found > 0) link_.capacity = std::max(link_.capacity, link_.findings.usual());
  if (found >= Findings::kUsual) alone_ = link_.capacity;
  link_.findings.restart();
  link_.drained.forget();
  leave(left, sample.now);
}

// Sets the rate that other senders leave us. After kShareTime, the rate grows again from this
// value.
void SharingMode::leave(BitRate left, Instant now) {
  left_ = left.scaled(kUsedPercent, 100);
  step_ = kFirstStep;
  next_step_ = now + kShareTime;
  link_.trends.clear();
  SharingMode::set_rate();
}

FinderMode::Change SharingMode::on_growth(BitRate arrived, const FeedbackSample& sample) {
  leave(arrived, sample.now);
  return std::nullopt;
}

// While other senders are active, the results of trains vary too much to show small changes of the
// capacity. So only a large change is used, such as a fade of the link. The capacity does not rise
// above alone_, if alone_ is known.
FinderMode::Change SharingMode::on_finding(const PacketTrain::Finding& finding,
                                           const FeedbackSample&) {
  if (finding.steady && !finding.unusual_loss) link_.findings.add(finding.rate);
  if (link_.findings.count() < Findings::kUsual) return std::nullopt;
  const BitRate usual = link_.findings.usual();
  const bool differs =
      usual < link_.capacity.scaled(7, 10) || usual > link_.capacity.scaled(115, 100);
  if (differs) link_.capacity = alone_.is_zero() ? usual : std::min(usual, alone_);
  return std::nullopt;
}

FinderMode::Change SharingMode::on_feedback(const FeedbackSample& sample) {
  if (const Change change = look_for_overload(sample)) return change;
  return look_for_room(sample.now);
}

// If more packets are lost than other senders can cause, the link now carries less than half of its
// earlier capacity.
FinderMode::Change SharingMode::look_for_overload(const FeedbackSample& sample) {
  packets_ += sample.packets_delivered + sample.packets_lost;
  lost_ += sample.packets_lost;
  if (sample.arrived - overload_from_.arrived < std::max(kOverloadTime, link_.rtt() * 4)) {
    return std::nullopt;
  }
  const auto packets = static_cast<double>(std::max<std::uint64_t>(packets_, 1));
  const DelayTrend::Point now = point_of(sample);
  if (static_cast<double>(lost_) / packets > kOverload + link_.path.loss()) {
    return Next{Kind::kDraining, link_.despite_loss(arrival_rate(overload_from_, now))};
  }
  overload_from_ = now;
  packets_ = lost_ = 0;
  return std::nullopt;
}

FinderMode::Change SharingMode::look_for_room(Instant now) {
  if (link_.queue.length() > kLeastStanding) {
    alone_since_ = Instant::never();
    return std::nullopt;
  }
  const BitRate all = link_.capacity.scaled(kUsedPercent, 100);
  if (link_.rate < all) {
    alone_since_ = Instant::never();
    if (now < next_step_) return std::nullopt;
    left_ = std::min(std::max(left_, link_.rate), all);
    left_ = std::min(rate_of(bits(left_) + bits(link_.capacity.scaled(step_, 1000))), all);
    step_ = std::min(step_ * 2, kLargestStep);
    next_step_ = now + link_.rtt() + Duration::milliseconds(250);
    return std::nullopt;
  }
  alone_since_ = std::min(alone_since_, now);
  if (now - alone_since_ <= kAloneTime + link_.rtt()) return std::nullopt;
  return Next{Kind::kCruising, link_.capacity};
}

void SharingMode::set_rate() {
  const BitRate half = link_.capacity.scaled(kUsedPercent, 200);
  link_.rate = std::clamp(rate_of(bits(left_) - link_.excess()), half,
                          std::max(half, link_.capacity.scaled(kUsedPercent, 100)));
}

}  // namespace satrelay::control
