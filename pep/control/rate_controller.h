// The contract of a rate-based controller of the satellite side. It is told what feedback reports
// say and answers with a rate; the pacer enforces it.
#pragma once

#include <cstdint>

#include "pep/base/time.h"
#include "pep/base/units.h"

namespace satrelay::control {

// One feedback report, as the sender understood it.
struct FeedbackSample {
  ByteCount newly_delivered;  // accounted bytes first reported as received
  std::uint64_t packets_delivered = 0;
  std::uint64_t packets_lost = 0;  // newly declared lost
  Duration rtt;                    // zero if the report gave no sample
  Duration interval;               // since the previous report
  Instant now;
};

class RateController {
 public:
  virtual ~RateController() = default;
  virtual void on_feedback(const FeedbackSample& sample) = 0;
  virtual void on_capacity(BitRate capacity) = 0;  // configured or announced link rate changed
  virtual BitRate rate() const = 0;                // what the pacer may send, accounted bits
};

// Complete Knowledge (Marchese): the capacity is known, and loss is never taken for congestion.
// Sends at 0.995 of the capacity from the first packet on.
class FixedRate final : public RateController {
 public:
  explicit FixedRate(BitRate capacity) { on_capacity(capacity); }
  void on_feedback(const FeedbackSample&) override {}
  void on_capacity(BitRate capacity) override { rate_ = capacity.scaled(995, 1000); }
  BitRate rate() const override { return rate_; }

 private:
  BitRate rate_;
};

}  // namespace satrelay::control
