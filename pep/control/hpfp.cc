#include "pep/control/hpfp.h"

#include <algorithm>

namespace satrelay::control {
namespace {

constexpr double kProportional = 0.1, kIntegral = 0.3, kDerivative = 0.05;
// The rate is at least this share of the target. At a lower rate, the receiver might stop sending
// reports.
constexpr double kLeastShare = 0.01;

double as_bits(BitRate rate) { return static_cast<double>(rate.to_bits_per_second()); }

}  // namespace

Hpfp::Hpfp(const Config& config) : config_(config), guard_(config.capacity) {
  goal_ = as_bits(target());
  rate_ = goal_ / 2;
}

BitRate Hpfp::target() const {
  const BitRate most = guard_.sustained_rate();
  return config_.target.is_zero() ? most : std::min(most, config_.target);
}

void Hpfp::on_start(const StartSample& sample) {
  guard_.on_start(sample);
  goal_ = as_bits(target());
  rate_ = goal_ / 2;
  error_ = previous_error_ = 0;
  measuring_ = false;
}

Priority Hpfp::on_sent(Purpose, ByteCount accounted, Instant now) {
  guard_.on_sent(accounted, now);
  return Priority::kHigh;
}

BitRate Hpfp::rate() const { return guard_.probes() ? guard_.rate() : sustained_rate(); }

BitRate Hpfp::sustained_rate() const {
  const auto rate = BitRate::bits_per_second(static_cast<std::uint64_t>(rate_));
  return std::max(std::min(rate, guard_.sustained_rate()), BitRate::bits_per_second(1'000));
}

std::optional<CutCause> Hpfp::cut_cause() const {
  const bool is_guards = guard_.state() == CapacityGuard::State::kDraining;
  return is_guards ? guard_.cut_cause() : std::optional(CutCause::kController);
}

void Hpfp::on_feedback(const FeedbackSample& sample) {
  guard_.on_feedback(sample);
  follow_guard();
  // If a machine was late, it is not known when the packets of the report arrived.
  if (!guard_.last_counts()) return;
  if (!measuring_) {
    measuring_ = true;
    period_began_ = sample.arrived;
    received_then_ = sample.received;
    return;
  }
  if (sample.arrived - period_began_ < config_.period) return;
  const BitRate measured =
      arrival_rate({{}, period_began_, received_then_}, {{}, sample.arrived, sample.received});
  period_began_ = sample.arrived;
  received_then_ = sample.received;
  control(measured);
}

// Scales the rate when the guard changes the target, so that the controller need not find the new
// capacity by itself.
void Hpfp::follow_guard() {
  const double goal = as_bits(target());
  rate_ = std::min(rate_ * goal / std::max(goal_, 1.0), goal);
  goal_ = goal;
}

// Uses the velocity form, so that the integral does not wind up while the rate is at its bounds.
void Hpfp::control(BitRate measured) {
  const double goal = as_bits(target());
  const double error = goal - as_bits(measured);
  const double step = kProportional * (error - error_) + kIntegral * error +
                      kDerivative * (error - 2 * error_ + previous_error_);
  previous_error_ = error_;
  error_ = error;
  rate_ = std::clamp(rate_ + step, goal * kLeastShare, goal);
}

}  // namespace satrelay::control
