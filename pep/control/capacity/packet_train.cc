#include "pep/control/capacity/packet_train.h"

#include <algorithm>

namespace satrelay::control {
namespace {

// A train ends if the hosts have nothing to send for this long.
constexpr Duration kGap = Duration::milliseconds(3);
// A train of fewer packets has no result.
constexpr std::uint64_t kLeastPackets = 4;
// If the delay grows by less, a machine or the path may be the cause, instead of the train.
constexpr Duration kLeastDelay = Duration::microseconds(300);
// The loss is unusual if the bytes that arrive are less than this fraction of the bytes that
// usually arrive. The loss of kLostByChance packets is ignored.
constexpr double kFewArrived = 0.85;
constexpr double kLostByChance = 2;
// A result is steady if other senders changed the delay by at most 1 / kSteady of the delay that
// the train added.
constexpr std::int64_t kSteady = 4;
constexpr Duration kTrainPatience = Duration::seconds(3);

}  // namespace

void PacketTrain::order(const Order& order) {
  order_ = order;
  state_ = State::kReady;
}

void PacketTrain::on_sent(std::uint64_t number, ByteCount accounted, Instant now) {
  switch (state_) {
    case State::kReady:
      state_ = State::kLeaving;
      began_ = last_sent_ = now;
      first_ = last_ = number;
      sent_ = first_packet_ = accounted;
      best_ = {};
      break;
    case State::kLeaving:
      if (now > last_sent_ + kGap) {
        end(number, now);
        state_ = State::kAwaited;
        return;
      }
      last_ = number;
      last_sent_ = now;
      sent_ += accounted;
      break;
    case State::kResting:
      // During the rest, the session still sends packets without stream bytes.
      end_ = number;
      if (now >= rests_until_) state_ = State::kAwaited;
      return;
    case State::kIdle:
    case State::kAwaited:
      return;
  }
  if (sent_ >= order_.length) end(number + 1, now);
}

void PacketTrain::end(std::uint64_t number, Instant now) {
  state_ = State::kResting;
  end_ = number;
  rests_until_ = std::min(began_ + order_.mean.time_for(sent_), now + order_.longest_rest);
  give_up_ = now + kTrainPatience;
}

// Returns the fraction of the sent bytes that have arrived, divided by the fraction that usually
// arrives. Counts from the last packet before the train on. Returns 1 unless clearly fewer bytes
// than usual have arrived.
double PacketTrain::arrived_share(const FeedbackSample& sample, double loss) const {
  if (before_.empty()) return 1;
  const double packet =
      static_cast<double>(sent_.value()) / static_cast<double>(last_ - first_ + 1);
  const double sent = packet * static_cast<double>(sample.number - before_.number());
  const auto arrived = static_cast<double>((sample.received - before_.received()).value());
  const double share = arrived / std::max(sent * (1 - loss), 1.0);
  return arrived + kLostByChance * packet < kFewArrived * sent * (1 - loss) ? share : 1;
}

// Keeps the result of the packet that shows the highest rate.
void PacketTrain::look_at(const FeedbackSample& sample, double loss) {
  const std::uint64_t all = last_ - first_ + 1;
  const std::uint64_t behind = sample.number - first_;  // packets behind the first
  if (all < kLeastPackets) return;
  if (behind + 1 < kLeastPackets || behind + 1 < all / 2) return;
  Sight sight;
  sight.arrived_share = arrived_share(sample, loss);
  sight.bits = static_cast<double>((sent_ - first_packet_).value()) * 8 *
               static_cast<double>(behind) / static_cast<double>(all - 1) * sight.arrived_share;
  sight.passed = sample.sent - began_;
  sight.delay = sample.arrived - sample.sent - sample.lateness;
  // If no packet before the train is known, the train is compared with a packet after it. Then the
  // last packet of the train gives the best result.
  const bool better =
      before_.empty() ? sight.bits > best_.bits
                      : finding(sight, delay_before()).rate > finding(best_, delay_before()).rate;
  if (better) best_ = sight;
}

PacketTrain::Finding PacketTrain::finding(const Sight& sight, Duration delay_without) const {
  if (sight.bits <= 0) return {};
  const Duration growth = std::max(sight.delay - delay_without, Duration::zero());
  const Duration time = std::max(sight.passed + growth, Duration::microseconds(1));
  const auto rate =
      BitRate::bits_per_second(static_cast<std::uint64_t>(sight.bits / time.to_seconds()));
  return {.rate = std::min(rate, order_.speed),
          .exact = growth > kLeastDelay && growth * 8 > sight.passed,
          .unusual_loss = sight.arrived_share < 1};
}

std::optional<PacketTrain::Finding> PacketTrain::on_feedback(const FeedbackSample& sample,
                                                             double loss) {
  const bool is_new = sample.number > newest_ || before_.empty();
  newest_ = std::max(newest_, sample.number);
  const bool is_before = state_ == State::kIdle || state_ == State::kReady || newest_ < first_;
  if (is_before) {
    before_.add(sample, is_new);
    return std::nullopt;
  }
  if (is_new && sample.number <= last_) look_at(sample, loss);
  if (state_ == State::kLeaving) return std::nullopt;
  const bool over = state_ == State::kAwaited && newest_ >= end_;
  if (!over && sample.now < give_up_) return std::nullopt;
  state_ = State::kIdle;
  const Duration after = sample.arrived - sample.sent;
  // Takes the smaller delay, so that a queue or a path that became shorter meanwhile does not look
  // like a faster link.
  Finding found = finding(best_, before_.empty() ? after : std::min(after, delay_before()));
  if (!before_.empty()) {
    const Duration growth = best_.delay - delay_before();
    const Duration change = std::max(after, delay_before()) - std::min(after, delay_before());
    found.steady = change * kSteady <= growth;
  }
  before_.restart(sample);
  return found;
}

}  // namespace satrelay::control
