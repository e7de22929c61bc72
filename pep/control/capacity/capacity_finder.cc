#include "pep/control/capacity/capacity_finder.h"

#include <algorithm>

#include "pep/control/capacity/capacity_search.h"
#include "pep/control/paced_rate.h"

namespace satrelay::control {
namespace {

// Before anything is known, this many packets leave at once, and as many again spread over the
// first round trip.
constexpr std::uint64_t kFirstPackets = 16;
// The longest rest behind a train while starting, however slow the rate still is: long enough for a
// report.
constexpr Duration kStartingRest = Duration::milliseconds(50);
// While nothing else is known, one train may raise the rate by this factor at most.
constexpr std::uint64_t kGrowth = 16;

// A train is what the rate sends in kTrainTime, but at least kLeastTrain packets. It leaves at
// kSpeed times the rate, but at least at kLeastSpeed. While sharing, its speed is higher by
// kSharingSpeed times the rate, but by kMostAbove at most.
constexpr Duration kTrainTime = Duration::milliseconds(30);
constexpr std::uint64_t kLeastTrain = 5;
constexpr BitRate kLeastSpeed = BitRate::bits_per_second(100'000'000);
constexpr std::uint64_t kSpeed = 4, kSharingSpeed = 12;
constexpr BitRate kMostAbove = BitRate::bits_per_second(400'000'000);
constexpr Duration kTrainPeriod = Duration::milliseconds(500);
// This many trains in a row must show less before the believed capacity falls.
constexpr std::size_t kAgree = 3;
// The highest rate before a train has shown anything.
constexpr BitRate kMostBlind = BitRate::bits_per_second(10'000'000);
constexpr int kMostMissed = 3;
constexpr double kUnusualLoss = 0.1;
constexpr double kChance = 3;  // packets more than that, as few may be lost by chance
// A session that sends less than 1 / kBusyShare of its rate is not limited by the link.
constexpr double kBusyShare = 4;
constexpr Duration kRareReports = Duration::milliseconds(50);

// The found capacity is not exact, and the rest of a queue must drain.
constexpr std::uint64_t kUsedPercent = 97;
constexpr std::uint64_t kLeastPercent = 80;
constexpr Duration kLeastStanding = Duration::milliseconds(8);
constexpr Duration kLongestPause = Duration::milliseconds(50);
// A standing queue is drained within one and a half round trips, but no faster than in this time.
constexpr Duration kLeastRemoval = Duration::milliseconds(300);

// A rise that is taken back within this time was not the end of a fade.
constexpr Duration kShortRise = Duration::seconds(3);

// A train and the rest of our own queue are no longer than this.
constexpr Duration kForeign = Duration::milliseconds(60);
// Share of the packets that may be lost in a queue that others fill, too. A session that sends half
// of what the link carries loses no more than that.
constexpr double kOverload = 0.35;
constexpr Duration kOverloadTime = Duration::seconds(2);

constexpr std::uint64_t kFirstStep = 20, kLargestStep = 160;  // per mille
// Another sender needs time to take its half.
constexpr Duration kPatience = Duration::seconds(6);
constexpr Duration kAlone = Duration::seconds(2);

// A capacity found longer ago than this says nothing about what others may send now.
constexpr Duration kStale = Duration::seconds(10);

BitRate from_double(double bits) {
  return BitRate::bits_per_second(static_cast<std::uint64_t>(std::max(bits, 0.0)));
}
double bits(BitRate rate) { return static_cast<double>(rate.to_bits_per_second()); }

}  // namespace

void CapacityFinder::on_start(const StartSample& sample) {
  const BitRate ceiling = ceiling_;
  *this = CapacityFinder(ceiling);
  packet_ = sample.packet;
  rtt_ = next_rtt_ = std::max(sample.rtt, Duration::milliseconds(1));
  next_rtt_since_ = idle_since_ = sample.now;
  rate_ = from_double(static_cast<double>(packet_.value() * kFirstPackets) * 8 / rtt_.to_seconds());
  order_train(sample.now);
}

void CapacityFinder::on_capacity(BitRate capacity) {
  ceiling_ = std::max(capacity, kLeastCapacity);
  capacity_ = std::min(capacity_, ceiling_);
  set_rate();
}

BitRate CapacityFinder::sustained_rate() const {
  const BitRate most = std::max(paced_rate(ceiling_), kLeastCapacity);
  return std::clamp(rate_, kLeastCapacity, most);
}

BitRate CapacityFinder::rate() const {
  return train_.leaves() ? std::max(train_.speed(), kLeastCapacity) : sustained_rate();
}

BitRate CapacityFinder::capacity() const { return idle_since_.is_never() ? BitRate() : capacity_; }

// The first packet of a train waits for its turn like any other packet. So the trains of several
// sessions do not meet.
ByteCount CapacityFinder::lead() const {
  return train_.state() == PacketTrain::State::kLeaving ? train_.length() : ByteCount(0);
}

ByteCount CapacityFinder::train() const {
  const bool is_out = train_.state() != PacketTrain::State::kIdle && !train_.leaves();
  return is_out ? train_.length() : lead();
}

Instant CapacityFinder::holds_until() const {
  const bool rests = train_.state() == PacketTrain::State::kResting;
  return rests ? later(train_.rests_until(), pause_until_) : pause_until_;
}

std::optional<CutCause> CapacityFinder::cut_cause() const {
  return is_cut_ ? std::optional(CutCause::kDelay) : std::nullopt;
}

Priority CapacityFinder::on_sent(Purpose purpose, ByteCount accounted, Instant now) {
  const std::uint64_t number = sent_packets_++;
  train_.on_sent(number, accounted, now);
  if (purpose != Purpose::kControl) {
    idle_since_ = now;
    if (testing_ && first_behind_ == 0 && now >= pause_until_) first_behind_ = number;
  }
  return Priority::kHigh;
}

void CapacityFinder::note_path(const FeedbackSample& sample) {
  interval_ = sample.interval;
  if (!idle_since_.is_never() && sample.now - idle_since_ > kStale) idle_since_ = Instant::never();
  if (sample.rtt <= Duration::zero()) return;
  if (sample.now - next_rtt_since_ > kRttMemory) {
    rtt_ = next_rtt_;
    next_rtt_ = sample.rtt;
    next_rtt_since_ = sample.now;
  }
  next_rtt_ = std::min(next_rtt_, sample.rtt);
  rtt_ = std::max(std::min(rtt_, sample.rtt), Duration::milliseconds(1));
}

// Measures what the path loses without a queue.
void CapacityFinder::note_loss(const FeedbackSample& sample) {
  if (state_ == State::kDraining || queue_.length() > kLeastStanding) return;
  const double packets = static_cast<double>(sample.packets_delivered + sample.packets_lost);
  const double weight = std::min(packets / 2000, 0.5);
  if (packets > 0) loss_ += weight * (static_cast<double>(sample.packets_lost) / packets - loss_);
}

// The link carries more than what arrives: some packets are lost beyond the modem.
BitRate CapacityFinder::despite_loss(BitRate arrived) const {
  return std::clamp(from_double(bits(arrived) / (1 - std::min(loss_, 0.5))), kLeastCapacity,
                    ceiling_);
}

void CapacityFinder::on_feedback(const FeedbackSample& told) {
  note_path(told);
  note_loss(told);
  FeedbackSample sample = told;
  sample.lateness = punctual_.believed_lateness(told);
  // If a machine was late, the sample does not show the queue.
  if (sample.lateness > PunctualSamples::kAllowed) return;
  const DelayTrend::Point point{sample.sent, sample.arrived, sample.received};
  quick_.add(point);
  slow_.add(point);
  queue_.add(point, std::max(rtt_, Duration::milliseconds(250)));
  const auto finding = train_.on_feedback(sample, loss_);
  if (others_fill_it(sample)) share(capacity_, sample);
  if (state_ == State::kDraining) {
    watch_drain(sample);
    return;
  }
  look_for_growth(sample);
  if (state_ == State::kDraining) return;
  if (finding) on_finding(*finding, sample);
  if (state_ == State::kSharing && is_overload(sample)) return;
  if (state_ == State::kSharing) look_for_room(sample.now);
  if (state_ == State::kCruising) test_queue(sample);
  set_rate();
  order_train(sample.now);
}

// --- trains ------------------------------------------------------------------------------------

void CapacityFinder::order_train(Instant now) {
  if (train_.state() != PacketTrain::State::kIdle || now < next_train_ || testing_) return;
  if (capacity_ == ceiling_ && state_ == State::kCruising) return;
  const BitRate mean = sustained_rate();
  // Packets that others send in between make a slow train slower.
  const BitRate above =
      state_ == State::kSharing ? std::min(mean.scaled(kSharingSpeed, 1), kMostAbove) : BitRate();
  const BitRate speed =
      std::min(std::max(BitRate::bits_per_second(mean.scaled(kSpeed, 1).to_bits_per_second() +
                                                 above.to_bits_per_second()),
                        kLeastSpeed),
               ceiling_);
  const std::uint64_t least = state_ == State::kStarting ? kFirstPackets : kLeastTrain;
  is_cut_ = false;
  train_.order({.speed = speed,
                .length = std::max(mean.bytes_in(kTrainTime), packet_ * least),
                .mean = mean,
                .longest_rest = state_ == State::kStarting ? kStartingRest : Duration::infinite()});
}

// If reports are too rare to show a train, the rate grows until it makes a queue, or loss.
void CapacityFinder::feel(const FeedbackSample& sample) {
  missed_ = 0;
  const DelayTrend::Point point{sample.sent, sample.arrived, sample.received};
  const BitRate arrived = despite_loss(arrival_rate(felt_from_, point));
  felt_from_ = point;
  const auto lost = static_cast<double>(sample.packets_lost);
  const double packets = lost + static_cast<double>(sample.packets_delivered);
  // A session that has little to send learns nothing about the link, even if it loses some of it.
  const double sent = bits(arrived) * packets / std::max(packets - lost, 1.0);
  if (sent * kBusyShare < bits(sustained_rate())) return;
  if (state_ == State::kStarting) {
    const bool unusual = lost > packets * (loss_ + kUnusualLoss) + kChance;
    if (unusual || queue_.length() > kForeign) return cruise(arrived, sample.now);
    rate_ = std::max(rate_, std::min({rate_.scaled(2, 1), arrived.scaled(3, 1), ceiling_}));
  } else if (state_ == State::kCruising && queue_.length() < kLeastStanding) {
    const BitRate more = std::min(capacity_.scaled(105, 100), arrived.scaled(110, 100));
    capacity_ = std::min(std::max(capacity_, more), ceiling_);
  }
}

// The median of the last findings: other senders make single findings too large or too small.
BitRate CapacityFinder::usual_finding() const {
  std::array<BitRate, kUsual> last{};
  const std::size_t count = std::min(finding_count_, kUsual);
  for (std::size_t i = 0; i < count; ++i) {
    last[i] = findings_[(finding_count_ - 1 - i) % kFindings];
  }
  const auto middle = last.begin() + static_cast<std::ptrdiff_t>(count / 2);
  std::nth_element(last.begin(), middle, last.begin() + static_cast<std::ptrdiff_t>(count));
  return *middle;
}

// While others send, trains are too noisy for fine changes. They can show that the link has faded.
// If the link was never seen without others, they show what it carries.
void CapacityFinder::follow(BitRate usual) {
  const bool differs = usual < capacity_.scaled(7, 10) || usual > capacity_.scaled(115, 100);
  if (differs) capacity_ = alone_.is_zero() ? usual : std::min(usual, alone_);
}

void CapacityFinder::on_finding(const PacketTrain::Finding& finding, const FeedbackSample& sample) {
  next_train_ = state_ == State::kStarting ? sample.now : train_.began() + kTrainPeriod;
  if (finding.rate.is_zero()) {
    // If losses are many, a slow session has too little to send at once for a train.
    const bool blind = state_ == State::kStarting && interval_ < kRareReports;
    if (blind && queue_.length() < kLeastStanding && rate_ < kMostBlind) {
      rate_ = std::min({rate_.scaled(2, 1), kMostBlind, ceiling_});
    }
    if (++missed_ >= kMostMissed && interval_ >= kRareReports) feel(sample);
    return;
  }
  missed_ = 0;
  // There was a queue before the train. Other senders may have changed it meanwhile, and the train
  // cannot tell.
  const bool queue_before = train_.delay_before() - queue_.path() > kLeastStanding;
  if (state_ == State::kCruising && queue_before) return;
  const BitRate found = std::min(finding.rate, ceiling_);
  if (state_ == State::kSharing) {
    if (finding.steady && !finding.unusual_loss) findings_[finding_count_++ % kFindings] = found;
    if (finding_count_ >= kUsual) follow(usual_finding());
    return;
  }
  if (state_ == State::kStarting) {
    const BitRate most = std::min(rate_.scaled(kGrowth, 1), ceiling_);
    if (finding.exact && found.scaled(9, 10) <= most) {
      if (finding.steady) findings_[finding_count_++ % kFindings] = found;
      return cruise(found, sample.now);
    }
    rate_ = std::max(rate_, std::min(found, most));
    if (rate_ >= ceiling_.scaled(kUsedPercent, 100)) cruise(ceiling_, sample.now);
    return;
  }
  if (finding.exact || found > capacity_) {
    findings_[finding_count_++ % kFindings] = found;
    ++since_fall_;
  }
  if (found > capacity_) {
    if (found > capacity_.scaled(115, 100)) raised_ = sample.now;
    capacity_ = found;
  } else if (since_fall_ >= kAgree) {
    BitRate most;
    for (std::size_t i = 1; i <= kAgree; ++i) {
      most = std::max(most, findings_[(finding_count_ - i) % kFindings]);
    }
    capacity_ = std::min(capacity_, most);
  }
  if (capacity_ >= ceiling_.scaled(kUsedPercent, 100)) capacity_ = ceiling_;
}

// --- the queue ---------------------------------------------------------------------------------

void CapacityFinder::look_for_growth(const FeedbackSample& sample) {
  for (const DelayTrend* trend : {&quick_, &slow_}) {
    if (!trend->grows()) continue;
    const auto arrived = trend->arrival_rate();
    if (!arrived) continue;
    // So few packets cannot fill a queue: the path has become longer more than once.
    if (trend->sending_rate() < sustained_rate().scaled(1, kIdleShare)) continue;
    return on_growth(*arrived, sample);
  }
}

void CapacityFinder::on_growth(BitRate arrived, const FeedbackSample& sample) {
  if (state_ == State::kSharing) {
    is_cut_ = true;
    left_ = arrived.scaled(kUsedPercent, 100);
    step_ = kFirstStep;
    next_step_ = sample.now + kPatience;
    quick_.clear();
    slow_.clear();
    return set_rate();
  }
  const bool was_raised =
      !raised_.is_never() && sample.now - raised_ < std::max(kShortRise, rtt_ * 4);
  if (was_raised && arrived < capacity_.scaled(85, 100)) return share(arrived, sample);
  drain(despite_loss(arrived), sample);
}

void CapacityFinder::drain(BitRate found, const FeedbackSample& sample) {
  state_ = State::kDraining;
  is_cut_ = true;
  capacity_ = found;
  since_fall_ = 0;
  drain_began_ = sample.now;
  drained_queue_ = sample.arrived - sample.sent - queue_.path();
  measured_from_ = {sample.sent, sample.arrived, sample.received};
  rate_ = found.scaled(1, kTrickle);
  train_.clear();
  testing_ = false;
  pause_until_ = Instant();
}

void CapacityFinder::watch_drain(const FeedbackSample& sample) {
  // The longer the queue, the better the link's rate is known: the link is busy all the time.
  if (sample.sent < drain_began_ && sample.arrived - measured_from_.arrived >= kMeasureAtLeast) {
    capacity_ =
        despite_loss(arrival_rate(measured_from_, {sample.sent, sample.arrived, sample.received}));
  }
  rate_ = capacity_.scaled(1, kTrickle);
  if (sample.in_flight > capacity_.bytes_in(rtt_ + sample.interval)) return;
  raised_ = sample.now;
  cruise(capacity_, sample.now);
}

// Our own queue is gone once nothing was sent for as long as the queue was. If it still stands
// then, another sender fills it.
bool CapacityFinder::others_fill_it(const FeedbackSample& sample) {
  if (drain_began_.is_never()) return false;
  const Duration queue = sample.arrived - sample.sent - queue_.path();
  if (sample.sent < drain_began_) {
    drained_queue_ = std::max(drained_queue_, queue);
    return false;
  }
  if (sample.sent < drain_began_ + drained_queue_ + kTrainTime) return false;
  drain_began_ = Instant::never();
  return queue > std::max(kForeign, drained_queue_ / 4);
}

void CapacityFinder::cruise(BitRate capacity, Instant now) {
  state_ = State::kCruising;
  capacity_ = std::min(capacity, ceiling_);
  stands_since_ = Instant::never();
  next_train_ = now;
  quick_.clear();
  slow_.clear();
  set_rate();
}

void CapacityFinder::set_rate() {
  if (state_ == State::kStarting || state_ == State::kDraining) return;
  const Duration removal = std::max(rtt_ + rtt_ / 2, kLeastRemoval);
  const double excess = bits(capacity_) * queue_.length().to_seconds() / removal.to_seconds();
  if (state_ == State::kSharing) {
    const BitRate half = capacity_.scaled(kUsedPercent, 200);
    rate_ = std::clamp(from_double(bits(left_) - excess), half,
                       std::max(half, capacity_.scaled(kUsedPercent, 100)));
    return;
  }
  const BitRate used =
      capacity_ == ceiling_ ? paced_rate(capacity_) : capacity_.scaled(kUsedPercent, 100);
  rate_ = std::max(from_double(bits(used) - excess), capacity_.scaled(kLeastPercent, 100));
}

void CapacityFinder::test_queue(const FeedbackSample& sample) {
  const Duration queue = queue_.length();
  const Duration delay = sample.arrived - sample.sent;
  if (testing_) {
    if (first_behind_ == 0 || sample.number < first_behind_) return;
    testing_ = false;
    stands_since_ = Instant::never();
    const Duration pause = std::min(queue, kLongestPause);
    if (before_pause_ - delay >= pause / 2) {
      capacity_ = capacity_.scaled(kUsedPercent, 100);
    } else {
      queue_.lengthen_path(queue);
    }
    return;
  }
  if (queue < kLeastStanding) {
    stands_since_ = Instant::never();
    return;
  }
  if (stands_since_.is_never() || queue * 10 < stood_ * 7) {
    stands_since_ = sample.now;
    stood_ = queue;
    return;
  }
  // A lower rate takes effect a round trip later, and shows in reports one more round trip later.
  if (sample.now - stands_since_ < rtt_ * 3 + Duration::seconds(1)) return;
  if (train_.state() != PacketTrain::State::kIdle) return;
  testing_ = true;
  first_behind_ = 0;
  before_pause_ = delay;
  pause_until_ = sample.now + std::min(queue, kLongestPause);
}

// --- others ------------------------------------------------------------------------------------

void CapacityFinder::share(BitRate left, const FeedbackSample& sample) {
  const Instant now = sample.now;
  state_ = State::kSharing;
  is_cut_ = true;
  // The capacity that was found before the rate fell, if any.
  if (finding_count_ > 0) capacity_ = std::max(capacity_, usual_finding());
  alone_ = finding_count_ >= kUsual ? capacity_ : BitRate();
  finding_count_ = 0;
  left_ = left.scaled(kUsedPercent, 100);
  step_ = kFirstStep;
  next_step_ = now + kPatience;
  alone_since_ = Instant::never();
  testing_ = false;
  pause_until_ = Instant();
  drain_began_ = Instant::never();
  overload_from_ = {sample.sent, sample.arrived, sample.received};
  shared_packets_ = shared_lost_ = 0;
  quick_.clear();
  slow_.clear();
  set_rate();
}

// If very much is lost, half of the earlier capacity is more than the link carries now.
bool CapacityFinder::is_overload(const FeedbackSample& sample) {
  shared_packets_ += sample.packets_delivered + sample.packets_lost;
  shared_lost_ += sample.packets_lost;
  if (sample.arrived - overload_from_.arrived < std::max(kOverloadTime, rtt_ * 4)) return false;
  const auto packets = static_cast<double>(std::max<std::uint64_t>(shared_packets_, 1));
  const bool overload = static_cast<double>(shared_lost_) / packets > kOverload + loss_;
  const DelayTrend::Point now{sample.sent, sample.arrived, sample.received};
  if (overload) drain(despite_loss(arrival_rate(overload_from_, now)), sample);
  overload_from_ = now;
  shared_packets_ = shared_lost_ = 0;
  return overload;
}

void CapacityFinder::look_for_room(Instant now) {
  if (queue_.length() > kLeastStanding) {
    alone_since_ = Instant::never();
    return;
  }
  const BitRate all = capacity_.scaled(kUsedPercent, 100);
  if (rate_ < all) {
    alone_since_ = Instant::never();
    if (now < next_step_) return;
    left_ = std::min(std::max(left_, rate_), all);
    left_ = std::min(from_double(bits(left_) + bits(capacity_.scaled(step_, 1000))), all);
    step_ = std::min(step_ * 2, kLargestStep);
    next_step_ = now + rtt_ + Duration::milliseconds(250);
    return;
  }
  alone_since_ = std::min(alone_since_, now);
  if (now - alone_since_ > kAlone + rtt_) cruise(capacity_, now);
}

}  // namespace satrelay::control
