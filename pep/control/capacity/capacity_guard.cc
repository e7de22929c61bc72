#include "pep/control/capacity/capacity_guard.h"

#include <algorithm>

#include "pep/control/capacity/capacity_search.h"
#include "pep/control/paced_rate.h"

namespace satrelay::control {
namespace {

// The measured capacity is not exact, and the rest of a queue must drain.
constexpr std::uint64_t kHoldPercent = 97;
// If there is no room, a burst makes a queue of this length, or as long as its second packet takes.
// If there is nearly enough room, it lasts for kLongestProbe at most.
constexpr Duration kProbeQueue = Duration::milliseconds(12);
constexpr std::uint64_t kLeastProbePackets = 2;
constexpr Duration kLongestProbe = Duration::milliseconds(100);
// In addition to the time of a packet.
constexpr Duration kProbeGap = Duration::milliseconds(3);
// A burst may show a little less than the link carries. From this share of the announced capacity
// on, the full rate is sent and shows the rest.
constexpr std::uint64_t kTrustPercent = 90;
// A burst that shows less than this share of the found capacity changes nothing.
constexpr std::uint64_t kNewsPercent = 103;
constexpr Duration kBetweenProbes = Duration::milliseconds(300);
// The limit after a rise that was too large: a burst may pass where a stream of packets does not.
constexpr Duration kMostBetweenProbes = Duration::seconds(2);
constexpr std::uint64_t kCarefulRise = 25, kLargestRise = 10'000;
constexpr Duration kWrongRise = Duration::seconds(3);

}  // namespace

CapacityGuard::CapacityGuard(BitRate capacity) { on_capacity(capacity); }

void CapacityGuard::on_start(const StartSample& sample) {
  quick_.clear();
  slow_.clear();
  hidden_.clear();
  rtt_ = next_rtt_ = sample.rtt;
  next_rtt_since_ = sample.now;
  loss_ = 0;
  sent_packets_ = 0;
  packet_ = sample.packet;
  if (state_ != State::kTrusting) hold(sample.now);
}

void CapacityGuard::on_capacity(BitRate capacity) {
  announced_ = std::max(capacity, kLeastCapacity);
  most_ = std::max(paced_rate(announced_), kLeastCapacity);
  state_ = State::kTrusting;
  sent_since_ = false;
  quick_.clear();
  slow_.clear();
  hidden_.clear();
  probes_.clear();
}

BitRate CapacityGuard::rate() const { return probes() ? most_ : sustained_rate(); }

BitRate CapacityGuard::sustained_rate() const {
  if (state_ == State::kTrusting) return most_;
  const BitRate rate =
      state_ == State::kDraining ? found_.scaled(1, kTrickle) : found_.scaled(kHoldPercent, 100);
  return std::clamp(rate, kLeastCapacity, most_);
}

void CapacityGuard::on_sent(ByteCount accounted, Instant now) {
  if (!sent_since_) {
    sent_since_ = true;
    trusted_since_ = now;
  }
  probes_.on_sent(sent_packets_++, accounted, now);
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
  // A full queue loses packets that the link would not lose.
  if (state_ == State::kDraining || hidden_.low()) return;
  const double packets = static_cast<double>(sample.packets_delivered + sample.packets_lost);
  const double weight = std::min(packets / 2000, 0.5);
  const std::uint64_t of_link =
      sample.packets_lost - std::min(sample.packets_lost, sample.packets_lost_at_receiver);
  if (packets > 0) loss_ += weight * (static_cast<double>(of_link) / packets - loss_);
}

// The link carries more than what arrives: some packets are lost beyond the modem.
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
  note_path(sample);
  counts_ = lateness <= PunctualSamples::kAllowed;
  if (state_ != State::kTrusting && excuse_.holds(sample)) return take_back_cut(sample.now);
  if (!sent_since_ || sample.sent < trusted_since_) return;
  quick_.add(point);
  slow_.add(point);
  if (state_ == State::kDraining) {
    if (counts_) refine(sample);
    if (drained(sample)) hold(sample.now);
    return;
  }
  hidden_.add(point);
  if (quick_.grows()) return drain(sample, quick_);
  if (slow_.grows()) return drain(sample, slow_);
  if (hidden_.arrival_rate()) return drain(sample, hidden_);
  if (state_ != State::kHolding || !counts_) return;
  if (const auto shown = probes_.on_feedback(sample, loss_)) raise(*shown, sample.now);
  if (state_ == State::kHolding && sample.now >= next_probe_) probe(sample.now);
}

template <typename Trend>
void CapacityGuard::drain(const FeedbackSample& sample, const Trend& trend) {
  const auto arrived = trend.arrival_rate();
  if (!arrived) return;
  // So few packets cannot fill a queue: the path has become longer more than once.
  if (trend.sending_rate() < capacity().scaled(1, kIdleShare)) return;
  before_cut_ = {state_ == State::kTrusting, found_, patience_, step_, hidden_.low()};
  excuse_.on_cut(trend.newest().arrived, sample.now);
  found_ = despite_loss(*arrived);
  const bool was_wrong =
      !raised_.is_never() && sample.now - raised_ < std::max(kWrongRise, rtt_ * 4);
  if (was_wrong) {
    step_ = kCarefulRise;
    patience_ = std::min(std::max(patience_, kBetweenProbes) * 2, kMostBetweenProbes);
  } else if (state_ == State::kTrusting) {
    step_ = kLargestRise;
    patience_ = kBetweenProbes;
  }
  probes_.clear();
  state_ = State::kDraining;
  drain_began_ = sample.now;
  measured_from_ = trend.newest();
}

// Restores the state before the cut. Packets sent until now say nothing more about it.
void CapacityGuard::take_back_cut(Instant now) {
  found_ = before_cut_.found;
  patience_ = before_cut_.patience;
  step_ = before_cut_.step;
  hold(now);
  hidden_.suspect(before_cut_.low);
  if (before_cut_.trusting) state_ = State::kTrusting;
  trusted_since_ = now;
}

// The longer the queue, the better the link's rate is known: the link is busy all the time.
void CapacityGuard::refine(const FeedbackSample& sample) {
  if (sample.sent >= drain_began_) return;
  if (sample.arrived - measured_from_.arrived < kMeasureAtLeast) return;
  found_ =
      despite_loss(arrival_rate(measured_from_, {sample.sent, sample.arrived, sample.received}));
}

// Whether no more is in flight than the path and the wait for a report hold at the found rate.
bool CapacityGuard::drained(const FeedbackSample& sample) const {
  return sample.in_flight <= found_.bytes_in(rtt_ + sample.interval);
}

// The next probe waits for a round trip: only then is the delay that of packets behind the queue.
void CapacityGuard::hold(Instant now) {
  state_ = State::kHolding;
  next_probe_ = now + std::max(patience_, rtt_);
  quick_.clear();
  slow_.clear();
  hidden_.clear();
  probes_.clear();
}

// Orders a burst that exceeds what the link carries by a short queue at most.
void CapacityGuard::probe(Instant now) {
  const auto delay = quick_.least_delay(now, Duration::seconds(2));
  if (!delay || !probes_.is_idle(now)) return;
  const auto excess = most_.to_bits_per_second() - std::min(most_, found_).to_bits_per_second();
  const Duration time = kProbeQueue *
                        static_cast<std::int64_t>(found_.to_bits_per_second() / 1000) /
                        static_cast<std::int64_t>(std::max<std::uint64_t>(excess / 1000, 1));
  probes_.order({.length = std::max(most_.bytes_in(std::min(time, kLongestProbe)),
                                    packet_ * kLeastProbePackets),
                 .mean = found_,
                 .gap = kProbeGap + most_.time_for(packet_),
                 .delay = *delay});
  next_probe_ = now + patience_;
}

void CapacityGuard::raise(BitRate shown, Instant now) {
  const BitRate better = std::min({shown, found_.scaled(100 + step_, 100), announced_});
  if (better < found_.scaled(kNewsPercent, 100)) return;
  found_ = better;
  raised_ = now;
  step_ = std::min(step_ * 2, kLargestRise);
  if (found_ < announced_.scaled(kTrustPercent, 100)) return;
  state_ = State::kTrusting;
  probes_.clear();
}

}  // namespace satrelay::control
