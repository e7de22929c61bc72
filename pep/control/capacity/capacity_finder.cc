#include "pep/control/capacity/capacity_finder.h"

#include <algorithm>

#include "pep/control/capacity/capacity_search.h"

namespace satrelay::control {
namespace {

// A packet train is sent at kSpeed times the sending rate, or at kLeastSpeed if that is higher. A
// mode may add to the speed of its trains (TrainStyle::more_speed), but at most kMostAbove.
constexpr std::uint64_t kSpeed = 4;
constexpr BitRate kLeastSpeed = BitRate::bits_per_second(100'000'000);
constexpr BitRate kMostAbove = BitRate::bits_per_second(400'000'000);
// A session that sends less than 1 / kBusyShare of its rate is not limited by the link.
constexpr double kBusyShare = 4;
// If a session has sent no data for this long, the capacity that it found is out of date, because
// other senders may have come or gone.
constexpr Duration kStale = Duration::seconds(10);

}  // namespace

CapacityFinder::CapacityFinder(BitRate ceiling)
    : link_(std::max(ceiling, kLeastCapacity)),
      mode_(std::in_place_type<StartingMode>, link_, ByteCount(0)) {}

void CapacityFinder::on_start(const StartSample& sample) {
  link_ = LinkModel(link_.ceiling);
  link_.path.restart(sample.rtt, sample.now);
  mode_.emplace<StartingMode>(link_, sample.packet);
  punctual_ = {};
  rare_ = {};
  packet_ = sample.packet;
  sent_packets_ = 0;
  idle_since_ = sample.now;
  next_train_ = Instant();
  order_train(sample.now);
}

void CapacityFinder::on_capacity(BitRate capacity) {
  link_.ceiling = std::max(capacity, kLeastCapacity);
  link_.capacity = std::min(link_.capacity, link_.ceiling);
  mode().set_rate();
}

BitRate CapacityFinder::rate() const {
  const PacketTrain& train = link_.train;
  return train.leaves() ? std::max(train.speed(), kLeastCapacity) : sustained_rate();
}

BitRate CapacityFinder::capacity() const {
  return idle_since_.is_never() ? BitRate() : link_.capacity;
}

// The first packet of a train waits in the pacer like any other packet. Only the packets after it
// may exceed the pacer's burst. So the trains of several sessions do not overlap.
ByteCount CapacityFinder::lead() const {
  const bool leaves = link_.train.state() == PacketTrain::State::kLeaving;
  return leaves ? link_.train.length() : ByteCount(0);
}

ByteCount CapacityFinder::train() const {
  const bool is_out = link_.train.state() != PacketTrain::State::kIdle && !link_.train.leaves();
  return is_out ? link_.train.length() : lead();
}

Instant CapacityFinder::holds_until() const {
  const auto* cruising = std::get_if<CruisingMode>(&mode_);
  const Instant pause = cruising ? cruising->queue_test().pause_until() : Instant();
  const bool rests = link_.train.state() == PacketTrain::State::kResting;
  return rests ? later(link_.train.rests_until(), pause) : pause;
}

std::optional<CutCause> CapacityFinder::cut_cause() const {
  return is_cut_ ? std::optional(CutCause::kDelay) : std::nullopt;
}

Priority CapacityFinder::on_sent(Purpose purpose, ByteCount accounted, Instant now) {
  const std::uint64_t number = sent_packets_++;
  link_.train.on_sent(number, accounted, now);
  if (purpose != Purpose::kControl) {
    idle_since_ = now;
    if (auto* cruising = std::get_if<CruisingMode>(&mode_)) {
      cruising->queue_test().on_sent(number, now);
    }
  }
  return Priority::kHigh;
}

FinderMode& CapacityFinder::mode() {
  return std::visit([](FinderMode& mode) -> FinderMode& { return mode; }, mode_);
}

bool CapacityFinder::change(const FinderMode::Change& to, const FeedbackSample& sample) {
  if (!to) return false;
  switch (to->kind) {
    case State::kStarting:
      return false;
    case State::kCruising:
      mode_.emplace<CruisingMode>(link_, to->rate);
      next_train_ = sample.now;
      return true;
    case State::kDraining:
      mode_.emplace<DrainingMode>(link_, to->rate, sample);
      break;
    case State::kSharing:
      mode_.emplace<SharingMode>(link_, to->rate, sample);
      break;
  }
  is_cut_ = true;
  return true;
}

void CapacityFinder::note_path(const FeedbackSample& sample) {
  if (!idle_since_.is_never() && sample.now - idle_since_ > kStale) idle_since_ = Instant::never();
  link_.path.add_rtt(sample.rtt, sample.now);
  if (state() == State::kDraining || link_.queue.length() > kLeastStanding) return;
  link_.path.add_packets(sample.packets_delivered + sample.packets_lost, sample.packets_lost);
}

void CapacityFinder::on_feedback(const FeedbackSample& told) {
  note_path(told);
  FeedbackSample sample = told;
  sample.lateness = punctual_.believed_lateness(told);
  // If a gateway's machine was late, the delay in the sample does not show how long the queue is.
  if (sample.lateness > PunctualSamples::kAllowed) return;
  link_.add(sample);
  const auto finding = link_.train.on_feedback(sample, link_.path.loss());
  if (link_.drained.is_foreign(link_.queue_of(sample), sample.sent, kTrainTime)) {
    change(FinderMode::Next{State::kSharing, link_.capacity}, sample);
  }
  if (state() == State::kDraining) {
    change(mode().on_feedback(sample), sample);
    return;
  }
  if (const auto arrived = link_.growth()) {
    is_cut_ = true;
    change(mode().on_growth(*arrived, sample), sample);
  }
  if (finding && state() != State::kDraining) on_finding(*finding, sample);
  // If the mode changes here, the new mode also gets this sample. The exception is DrainingMode,
  // which measures from this sample on.
  while (state() != State::kDraining && change(mode().on_feedback(sample), sample)) {
  }
  if (state() == State::kDraining) return;
  mode().set_rate();
  order_train(sample.now);
}

void CapacityFinder::on_finding(PacketTrain::Finding finding, const FeedbackSample& sample) {
  next_train_ = link_.train.began() + mode().trains().period;
  if (finding.rate.is_zero()) return on_miss(sample);
  rare_.on_finding();
  finding.rate = std::min(finding.rate, link_.ceiling);
  change(mode().on_finding(finding, sample), sample);
}

void CapacityFinder::on_miss(const FeedbackSample& sample) {
  mode().on_miss(sample);
  const auto seen = rare_.on_miss(sample);
  if (!seen) return;
  const BitRate arrived = link_.despite_loss(*seen);
  const auto lost = static_cast<double>(sample.packets_lost);
  const double packets = lost + static_cast<double>(sample.packets_delivered);
  // A session that has little to send learns nothing about the link, even if some of its packets
  // are lost.
  const double sent = bits(arrived) * packets / std::max(packets - lost, 1.0);
  if (sent * kBusyShare < bits(sustained_rate())) return;
  change(mode().on_arrival(arrived, sample), sample);
}

void CapacityFinder::order_train(Instant now) {
  if (link_.train.state() != PacketTrain::State::kIdle || now < next_train_) return;
  if (!mode().wants_train()) return;
  const FinderMode::TrainStyle& style = mode().trains();
  const BitRate mean = sustained_rate();
  const BitRate above = std::min(mean.scaled(style.more_speed, 1), kMostAbove);
  const BitRate speed = BitRate::bits_per_second(mean.scaled(kSpeed, 1).to_bits_per_second() +
                                                 above.to_bits_per_second());
  is_cut_ = false;
  link_.train.order({.speed = std::min(std::max(speed, kLeastSpeed), link_.ceiling),
                     .length = std::max(mean.bytes_in(kTrainTime), packet_ * style.least_packets),
                     .mean = mean,
                     .longest_rest = style.longest_rest});
}

}  // namespace satrelay::control
