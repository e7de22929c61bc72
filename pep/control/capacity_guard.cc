#include "pep/control/capacity_guard.h"

#include <algorithm>

#include "pep/control/capacity_search.h"

namespace satrelay::control {
namespace {

// What was measured is not exact, and the rest of a queue must go.
constexpr std::uint64_t kHoldPercent = 97;
// A probe sends so much more than was found that it makes at most this queue.
constexpr Duration kProbeQueue = Duration::milliseconds(15);
constexpr Duration kProbeSign = Duration::milliseconds(6);
constexpr Duration kJudgeSpan = Duration::milliseconds(60);
constexpr int kJudgeSamples = 2;
constexpr std::uint64_t kFirstProbe = 25, kLeastProbe = 5, kLargestProbe = 100;
constexpr Duration kFirstPatience = Duration::seconds(1);
constexpr Duration kMostPatience = Duration::seconds(2);

}  // namespace

CapacityGuard::CapacityGuard(BitRate capacity) { on_capacity(capacity); }

void CapacityGuard::on_start(const StartSample& sample) {
  quick_.clear();
  slow_.clear();
  hidden_.clear();
  rtt_ = next_rtt_ = sample.rtt;
  next_rtt_since_ = sample.now;
  loss_ = 0;
  if (state_ != State::kTrusting) hold(kFirstPatience, sample.now);
}

void CapacityGuard::on_capacity(BitRate capacity) {
  announced_ = std::max(capacity, kLeastCapacity);
  most_ = std::max(announced_.scaled(995, 1000), kLeastCapacity);
  state_ = State::kTrusting;
  sent_since_ = false;
  quick_.clear();
  slow_.clear();
  hidden_.clear();
}

BitRate CapacityGuard::rate() const {
  BitRate rate = most_;
  switch (state_) {
    case State::kTrusting:
      return most_;
    case State::kDraining:
      rate = found_.scaled(1, kTrickle);
      break;
    case State::kHolding:
    case State::kJudging:
      rate = found_.scaled(kHoldPercent, 100);
      break;
    case State::kProbing:
      rate = found_.scaled(100 + step_, 100);
      break;
  }
  return std::clamp(rate, kLeastCapacity, most_);
}

void CapacityGuard::on_sent(ByteCount accounted, Instant now) {
  if (!sent_since_) {
    sent_since_ = true;
    trusted_since_ = now;
  }
  if (state_ == State::kProbing && now >= probe_ends_) {
    state_ = State::kJudging;
    judged_ = 0;
  }
  if (state_ == State::kProbing) probe_sent_ += accounted;
}

void CapacityGuard::note_path(const FeedbackSample& sample) {
  if (sample.rtt > Duration::zero()) {
    if (sample.now - next_rtt_since_ > kRttMemory) {
      rtt_ = next_rtt_;
      next_rtt_ = sample.rtt;
      next_rtt_since_ = sample.now;
    }
    next_rtt_ = std::min(next_rtt_, sample.rtt);
    rtt_ = std::min(rtt_, sample.rtt);
  }
  // A full queue loses what the link would not.
  if (state_ == State::kDraining || hidden_.low()) return;
  const double packets = static_cast<double>(sample.packets_delivered + sample.packets_lost);
  const double weight = std::min(packets / 2000, 0.5);
  const std::uint64_t of_link =
      sample.packets_lost - std::min(sample.packets_lost, sample.packets_lost_at_receiver);
  if (packets > 0) loss_ += weight * (static_cast<double>(of_link) / packets - loss_);
}

// Of what arrives, the link has carried more: what is lost beyond the modem.
BitRate CapacityGuard::despite_loss(BitRate arrived) const {
  const double rate =
      static_cast<double>(arrived.to_bits_per_second()) / (1 - std::min(loss_, 0.5));
  return std::clamp(BitRate::bits_per_second(static_cast<std::uint64_t>(rate)), kLeastCapacity,
                    announced_);
}

void CapacityGuard::on_feedback(const FeedbackSample& sample) {
  const Duration lateness = punctual_.believed_lateness(sample);
  const DelayTrend::Point point{sample.sent, sample.arrived, sample.received, lateness,
                                capacity().time_for(sample.booked)};
  const bool is_new = sample.sent > newest_sent_;
  newest_sent_ = std::max(newest_sent_, sample.sent);
  note_path(sample);
  counts_ = lateness <= PunctualSamples::kAllowed;
  if (state_ != State::kTrusting && excuse_.holds(sample)) return take_back_cut(sample.now);
  if (!sent_since_ || sample.sent < trusted_since_) return;
  quick_.add(point);
  slow_.add(point);
  if (state_ == State::kDraining) {
    if (counts_) refine(sample);
    if (drained(sample)) hold(patience_, sample.now);
    return;
  }
  hidden_.add(point);
  if (quick_.grows()) return drain(sample, quick_);
  if (slow_.grows()) return drain(sample, slow_);
  if (hidden_.arrival_rate()) return drain(sample, hidden_);
  if (state_ == State::kHolding && sample.now >= hold_until_) probe(sample.now);
  if (state_ == State::kProbing && sample.now >= probe_ends_) {
    state_ = State::kJudging;
    judged_ = 0;
  }
  if (state_ == State::kJudging && is_new && counts_) judge(sample);
}

template <typename Trend>
void CapacityGuard::drain(const FeedbackSample& sample, const Trend& trend) {
  const auto arrived = trend.arrival_rate();
  if (!arrived) return;
  // So few packets fill no queue: the path has become longer more than once.
  if (trend.sending_rate() < capacity().scaled(1, kIdleShare)) return;
  before_cut_ = {state_ == State::kTrusting, found_, patience_, step_, hidden_.low()};
  excuse_.on_cut(trend.newest().arrived, sample.now);
  found_ = despite_loss(*arrived);
  if (state_ == State::kTrusting) {
    patience_ = kFirstPatience;
    step_ = kFirstProbe;
  } else {
    // The last step up was one too many.
    step_ = std::max(kLeastProbe, step_ / 2);
    patience_ = std::min(patience_ * 2, kMostPatience);
  }
  state_ = State::kDraining;
  drain_began_ = sample.now;
  measured_from_ = trend.newest();
}

// As if it had not been. What was sent until now says no more about it.
void CapacityGuard::take_back_cut(Instant now) {
  found_ = before_cut_.found;
  patience_ = before_cut_.patience;
  step_ = before_cut_.step;
  hold(patience_, now);
  hidden_.suspect(before_cut_.low);
  if (before_cut_.trusting) state_ = State::kTrusting;
  trusted_since_ = now;
}

// The longer the queue, the better the link's rate is known: it is busy all the time.
void CapacityGuard::refine(const FeedbackSample& sample) {
  if (sample.sent >= drain_began_) return;
  if (sample.arrived - measured_from_.arrived < kMeasureAtLeast) return;
  found_ =
      despite_loss(arrival_rate(measured_from_, {sample.sent, sample.arrived, sample.received}));
}

// No more is in flight than the path and the wait for a report hold at the rate that was found.
bool CapacityGuard::drained(const FeedbackSample& sample) const {
  return sample.in_flight <= found_.bytes_in(rtt_ + sample.interval);
}

void CapacityGuard::hold(Duration time, Instant now) {
  state_ = State::kHolding;
  hold_until_ = now + std::max(time, rtt_);
  quick_.clear();
  slow_.clear();
  hidden_.clear();
}

void CapacityGuard::probe(Instant now) {
  const auto before = quick_.least_delay(now, Duration::seconds(2));
  if (!before) return;
  // No further than to what was announced.
  const std::uint64_t known = 100 * announced_.to_bits_per_second() /
                              std::max<std::uint64_t>(found_.to_bits_per_second(), 1);
  step_ = std::min(step_, std::max<std::uint64_t>(known, 100) - 100 + 1);
  before_probe_ = *before;
  state_ = State::kProbing;
  probe_began_ = now;
  probe_ends_ = now + kProbeQueue * 100 / static_cast<std::int64_t>(step_);
  probe_sent_ = ByteCount(0);
  since_probe_ = Duration::infinite();
}

void CapacityGuard::judge(const FeedbackSample& sample) {
  // Too little to send, so that nothing was tried.
  const BitRate probed = std::min(found_.scaled(100 + step_, 100), announced_.scaled(995, 1000));
  const BitRate midway =
      BitRate::bits_per_second((found_.to_bits_per_second() + probed.to_bits_per_second()) / 2);
  const ByteCount meant = midway.bytes_in(probe_ends_ - probe_began_);
  if (probe_sent_ < meant) return hold(rtt_, sample.now);
  if (sample.sent < probe_ends_) return;
  since_probe_ = std::min(since_probe_, sample.arrived - sample.sent);
  if (++judged_ < kJudgeSamples || sample.sent < probe_ends_ + kJudgeSpan) return;
  on_verdict(since_probe_ < before_probe_ + kProbeSign, sample.now);
}

void CapacityGuard::on_verdict(bool room, Instant now) {
  if (!room) {
    step_ = std::max(kLeastProbe, step_ / 2);
    patience_ = std::min(patience_ * 2, kMostPatience);
    hold(patience_, now);
    return;
  }
  found_ = found_.scaled(100 + step_, 100);
  if (found_ >= announced_) {
    state_ = State::kTrusting;
    return;
  }
  step_ = std::min(kLargestProbe, step_ * 2);
  patience_ = kFirstPatience;
  // Room there was: asks again as soon as the new rate shows.
  state_ = State::kHolding;
  hold_until_ = now + kJudgeSpan;
}

}  // namespace satrelay::control
