#include "pep/control/capacity/room_probes.h"

#include <algorithm>
#include <utility>

namespace satrelay::control {
namespace {

// A burst is judged when a report covers a packet that was sent this long after the rest. By then,
// the losses of the burst are known.
constexpr Duration kBurstNews = Duration::milliseconds(10);
// A burst has no result if it loses too many packets: more than the usual loss, plus this share of
// its packets, plus kBurstChance packets.
constexpr double kBurstLoss = 0.1;
constexpr double kBurstChance = 2;

}  // namespace

void RoomProbes::order(const Order& order) {
  order_ = order;
  state_ = State::kReady;
}

void RoomProbes::on_sent(std::uint64_t number, ByteCount accounted, Instant now) {
  if (state_ == State::kReady) {
    if (count_ == kBursts) {
      first_ = (first_ + 1) % kBursts;
      --count_;
    }
    Burst& burst = bursts_[(first_ + count_) % kBursts] = {};
    burst.first = number;
    burst.began = now;
    burst.delay = order_.delay;
    ++count_;
    state_ = State::kLeaving;
    sent_ = ByteCount(0);
  } else if (state_ != State::kLeaving) {
    return;
  } else if (now > last_sent_ + order_.gap) {
    return end();
  }
  Burst& burst = bursts_[(first_ + count_ - 1) % kBursts];
  if (sent_ > ByteCount(0)) burst.behind_first += accounted;
  burst.last = number;
  sent_ += accounted;
  last_sent_ = now;
  if (sent_ >= order_.length) end();
}

void RoomProbes::end() {
  Burst& burst = bursts_[(first_ + count_ - 1) % kBursts];
  state_ = State::kResting;
  asks_ = true;
  rests_until_ = burst.rests_until = burst.began + order_.mean.time_for(sent_);
}

bool RoomProbes::take_question() { return std::exchange(asks_, false); }

// A report shows when its newest packet arrived. If no report has the last packet of the burst as
// its newest packet, a packet sent during the rest is used instead. This packet arrives no earlier
// than the last packet of the burst, so the result is no higher.
void RoomProbes::look_at(Burst& burst, const FeedbackSample& sample) const {
  if (sample.number < burst.first) return;
  burst.packets += sample.packets_delivered + sample.packets_lost;
  burst.lost +=
      sample.packets_lost - std::min(sample.packets_lost, sample.packets_lost_at_receiver);
  if (sample.number < burst.last || sample.sent > burst.rests_until) return;
  const Duration passed = sample.arrived - burst.began;
  burst.passed = burst.passed ? std::min(*burst.passed, passed) : passed;
}

std::optional<BitRate> RoomProbes::verdict(const Burst& burst, double loss) const {
  const double usual = (loss + kBurstLoss) * static_cast<double>(burst.packets) + kBurstChance;
  if (!burst.passed || static_cast<double>(burst.lost) > usual) return std::nullopt;
  const Duration time = std::max(*burst.passed - burst.delay, Duration::microseconds(1));
  const double bits = static_cast<double>(burst.behind_first.value()) * 8;
  return BitRate::bits_per_second(static_cast<std::uint64_t>(bits / time.to_seconds()));
}

std::optional<BitRate> RoomProbes::on_feedback(const FeedbackSample& sample, double loss) {
  for (std::size_t i = 0; i < count_; ++i) look_at(bursts_[(first_ + i) % kBursts], sample);
  std::optional<BitRate> most;
  while (count_ > 0) {
    Burst& burst = bursts_[first_];
    if (burst.rests_until.is_never() || sample.sent < burst.rests_until + kBurstNews) break;
    // Takes the smaller delay, so that a path that has become shorter does not look like a faster
    // link.
    burst.delay = std::min(burst.delay, sample.arrived - sample.sent);
    const auto shown = verdict(burst, loss);
    if (shown && (!most || *shown > *most)) most = shown;
    first_ = (first_ + 1) % kBursts;
    --count_;
  }
  return most;
}

}  // namespace satrelay::control
