// Cruising: the capacity is known. Sends at 97% of it, and at less while a standing queue must
// drain. Trains show when the link carries more or less.
#pragma once

#include "pep/base/time.h"
#include "pep/control/capacity/finder/finder_mode.h"
#include "pep/control/capacity/finder/queue_test.h"

namespace satrelay::control {

class CruisingMode final : public FinderMode {
 public:
  CruisingMode(LinkModel& link, BitRate capacity);

  Change on_growth(BitRate arrived, const FeedbackSample& sample) override;
  Change on_finding(const PacketTrain::Finding& finding, const FeedbackSample& sample) override;
  Change on_arrival(BitRate arrived, const FeedbackSample& sample) override;
  Change on_feedback(const FeedbackSample& sample) override;
  void set_rate() override;
  // A known capacity that equals the ceiling needs no trains.
  bool wants_train() const override;

  QueueTest& queue_test() { return test_; }
  const QueueTest& queue_test() const { return test_; }

 private:
  QueueTest test_;
};

}  // namespace satrelay::control
