// Draining: the delay has grown. Sends at a sixteenth of the found rate until no more bytes are in
// flight than the path holds. Meanwhile, the rate at which packets of the queue arrive shows what
// the link carries.
#pragma once

#include "pep/control/capacity/finder/finder_mode.h"

namespace satrelay::control {

class DrainingMode final : public FinderMode {
 public:
  DrainingMode(LinkModel& link, BitRate found, const FeedbackSample& sample);

  // The queue is known already, and no train is sent in this mode.
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
