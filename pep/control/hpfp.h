// HpFP (Murata et al.): the rate begins at half of a target. In every control period, a PID
// controller compares the target with the throughput in reports, and moves the rate towards the
// target (sections II-B and II-D1, figure 4). Packets are sent at intervals of size / rate
// (equation 1), which the pacer enforces.
//
// The paper does not publish its gains. The gains used here let a path of 500 ms settle within 3 s.
// The paper also does not say how to distinguish overload from loss. Here, the target is at most
// the capacity that the guard has found.
#pragma once

#include <optional>

#include "pep/control/capacity/capacity_guard.h"
#include "pep/control/rate_controller.h"

namespace satrelay::control {

class Hpfp final : public RateController {
 public:
  struct Config {
    BitRate capacity;  // of the carrier
    BitRate target;    // zero stands for the capacity
    Duration period = Duration::milliseconds(250);
  };
  explicit Hpfp(const Config& config);

  void on_start(const StartSample& sample) override;
  void on_feedback(const FeedbackSample& sample) override;
  void on_capacity(BitRate capacity) override { guard_.on_capacity(capacity); }
  Priority on_sent(Purpose, ByteCount accounted, Instant now) override;
  BitRate rate() const override;
  BitRate sustained_rate() const override;
  Instant holds_until() const override { return guard_.holds_until(); }
  bool take_question() override { return guard_.take_question(); }
  bool is_steady() const override { return !guard_.probes(); }
  std::optional<CutCause> cut_cause() const override;
  // The target towards which the controller moves the rate now.
  BitRate target() const;

 private:
  void control(BitRate measured);
  void follow_guard();
  Config config_;
  CapacityGuard guard_;
  double goal_;  // target at the last update of `rate_`, bits per second
  double rate_;
  double error_ = 0, previous_error_ = 0;
  bool measuring_ = false;
  Instant period_began_;  // by the receiver's clock
  ByteCount received_then_;
};

}  // namespace satrelay::control
