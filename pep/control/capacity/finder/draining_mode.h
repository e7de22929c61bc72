// Draining: the delay has grown. Sends a sixteenth of the found rate until no more is in flight
// than the path holds. Meanwhile packets of the queue show what the link carries.
#pragma once

#include "pep/control/capacity/finder/finder_mode.h"

namespace satrelay::control {

class DrainingMode final : public FinderMode {
 public:
  DrainingMode(LinkModel& link, BitRate found, const FeedbackSample& sample);

  // The queue is there already, and no train leaves.
  Change on_growth(BitRate, const FeedbackSample&) override { return std::nullopt; }
  Change on_finding(const PacketTrain::Finding&, const FeedbackSample&) override {
    return std::nullopt;
  }
  Change on_feedback(const FeedbackSample& sample) override;
  bool wants_train() const override { return false; }

 private:
  DelayTrend::Point measured_from_;
};

}  // namespace satrelay::control
