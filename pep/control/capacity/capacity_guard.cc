#include "pep/control/capacity/capacity_guard.h"

#include <algorithm>

#include "pep/control/capacity/capacity_search.h"
#include "pep/control/paced_rate.h"

namespace satrelay::control {
namespace {

// Percentage of the found capacity at which the guard sends. It is below 100, because the measured
// capacity is not exact, and because a short queue may remain that must drain.
constexpr std::uint64_t kHoldPercent = 97;
// If bursts show this percentage of the announced capacity, the guard sends at the announced
// capacity again. The percentage is below 100, because a burst may show a little less than the link
// carries. If the link does carry less, the delay grows again, and the guard reduces the rate
// again.
constexpr std::uint64_t kTrustPercent = 90;

}  // namespace

CapacityGuard::CapacityGuard(BitRate capacity) { on_capacity(capacity); }

void CapacityGuard::on_start(const StartSample& sample) {
  forget_delays();
  path_.restart(sample.rtt, sample.now);
  sent_packets_ = 0;
  room_.on_start(sample.packet);
  if (state_ != State::kTrusting) hold(sample.now);
}

void CapacityGuard::on_capacity(BitRate capacity) {
  announced_ = std::max(capacity, kLeastCapacity);
  most_ = std::max(paced_rate(announced_), kLeastCapacity);
  state_ = State::kTrusting;
  trusted_since_.reset();
  forget_delays();
  room_.clear();
}

void CapacityGuard::forget_delays() {
  trends_.clear();
  hidden_.clear();
}

BitRate CapacityGuard::rate() const { return probes() ? most_ : sustained_rate(); }

BitRate CapacityGuard::sustained_rate() const {
  if (state_ == State::kTrusting) return most_;
  const BitRate rate =
      state_ == State::kDraining ? found_.scaled(1, kTrickle) : found_.scaled(kHoldPercent, 100);
  return std::clamp(rate, kLeastCapacity, most_);
}

void CapacityGuard::on_sent(ByteCount accounted, Instant now) {
  if (!trusted_since_) trusted_since_ = now;
  room_.on_sent(sent_packets_++, accounted, now);
}

void CapacityGuard::note_path(const FeedbackSample& sample) {
  path_.add_rtt(sample.rtt, sample.now);
  // If the queue may be full, the losses of the sample do not count as losses of the link, because
  // a full queue drops packets too.
  if (state_ == State::kDraining || hidden_.low()) return;
  const std::uint64_t of_link =
      sample.packets_lost - std::min(sample.packets_lost, sample.packets_lost_at_receiver);
  path_.add_packets(sample.packets_delivered + sample.packets_lost, of_link);
}

void CapacityGuard::on_feedback(const FeedbackSample& sample) {
  const Duration lateness = punctual_.believed_lateness(sample);
  const DelayTrend::Point point{sample.sent, sample.arrived, sample.received, lateness,
                                capacity().time_for(sample.booked)};
  note_path(sample);
  counts_ = lateness <= PunctualSamples::kAllowed;
  if (state_ != State::kTrusting && excuse_.holds(sample)) return take_back_cut(sample.now);
  if (!trusted_since_ || sample.sent < *trusted_since_) return;
  trends_.add(point);
  if (state_ == State::kDraining) {
    if (counts_) refine(sample);
    if (drained(sample)) hold(sample.now);
    return;
  }
  hidden_.add(point);
  if (trends_.quick.grows()) return drain(sample, trends_.quick);
  if (trends_.slow.grows()) return drain(sample, trends_.slow);
  if (hidden_.arrival_rate()) return drain(sample, hidden_);
  if (state_ == State::kHolding && counts_) look_for_room(sample);
}

template <typename Trend>
void CapacityGuard::drain(const FeedbackSample& sample, const Trend& trend) {
  const auto arrived = trend.arrival_rate();
  if (!arrived) return;
  // Below this sending rate, our packets cannot fill a queue. So another cause makes the delay
  // grow: the path has become longer in several steps.
  if (trend.sending_rate() < capacity().scaled(1, kIdleShare)) return;
  before_cut_ = {state_ == State::kTrusting, found_, room_.pace(), hidden_.low()};
  excuse_.on_cut(trend.newest().arrived, sample.now);
  found_ = despite_loss(*arrived);
  room_.on_cut(before_cut_.trusting, path_.rtt(), sample.now);
  state_ = State::kDraining;
  drain_began_ = sample.now;
  measured_from_ = trend.newest();
}

// Restores the state before the cut. From now on, samples of packets that were sent before `now`
// are ignored.
void CapacityGuard::take_back_cut(Instant now) {
  found_ = before_cut_.found;
  room_.set_pace(before_cut_.pace);
  hold(now);
  hidden_.suspect(before_cut_.low);
  if (before_cut_.trusting) state_ = State::kTrusting;
  trusted_since_ = now;
}

// Measures the found rate again over a longer time. The link is busy while the queue drains, so a
// longer measurement is more exact.
void CapacityGuard::refine(const FeedbackSample& sample) {
  if (sample.sent >= drain_began_) return;
  if (sample.arrived - measured_from_.arrived < kMeasureAtLeast) return;
  found_ =
      despite_loss(arrival_rate(measured_from_, {sample.sent, sample.arrived, sample.received}));
}

// Whether the queue has drained: no more bytes are in flight than the link carries at the found
// rate in a round trip plus a report interval.
bool CapacityGuard::drained(const FeedbackSample& sample) const {
  return sample.in_flight <= found_.bytes_in(path_.rtt() + sample.interval);
}

void CapacityGuard::hold(Instant now) {
  state_ = State::kHolding;
  forget_delays();
  room_.begin(path_.rtt(), now);
}

void CapacityGuard::look_for_room(const FeedbackSample& sample) {
  const auto better = room_.on_feedback(sample, {found_, most_, announced_}, path_.loss());
  if (better) found_ = *better;
  if (better && found_ >= announced_.scaled(kTrustPercent, 100)) {
    state_ = State::kTrusting;
    room_.clear();
    return;
  }
  room_.probe({found_, most_, announced_}, trends_.quick, sample.now);
}

}  // namespace satrelay::control
