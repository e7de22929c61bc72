// Complete Knowledge (Marchese): the capacity is known, and loss is never taken for congestion.
// Sends at 0.995 of the capacity from the first packet on. If the link carries less than was
// announced, the CapacityGuard detects that and lowers the rate.
#pragma once

#include <optional>

#include "pep/control/capacity/capacity_guard.h"
#include "pep/control/rate_controller.h"

namespace satrelay::control {

class FixedRate final : public RateController {
 public:
  explicit FixedRate(BitRate capacity) : guard_(capacity) {}

  void on_start(const StartSample& sample) override { guard_.on_start(sample); }
  void on_feedback(const FeedbackSample& sample) override { guard_.on_feedback(sample); }
  void on_capacity(BitRate capacity) override { guard_.on_capacity(capacity); }
  Priority on_sent(Purpose, ByteCount accounted, Instant now) override {
    guard_.on_sent(accounted, now);
    return Priority::kHigh;
  }
  BitRate rate() const override { return guard_.rate(); }
  BitRate sustained_rate() const override { return guard_.sustained_rate(); }
  Instant holds_until() const override { return guard_.holds_until(); }
  bool take_question() override { return guard_.take_question(); }
  bool is_steady() const override { return !guard_.probes(); }
  std::optional<CutCause> cut_cause() const override { return guard_.cut_cause(); }
  const CapacityGuard& guard() const { return guard_; }

 private:
  CapacityGuard guard_;
};

}  // namespace satrelay::control
