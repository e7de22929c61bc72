// Starting: nothing is known yet. Each train shows a rate, which is used at once, until a train
// shows less than its own speed. That rate is what the link carries.
#pragma once

#include "pep/control/capacity/finder/finder_mode.h"

namespace satrelay::control {

class StartingMode final : public FinderMode {
 public:
  StartingMode(LinkModel& link, ByteCount packet);

  Change on_growth(BitRate arrived, const FeedbackSample& sample) override;
  Change on_finding(const PacketTrain::Finding& finding, const FeedbackSample& sample) override;
  void on_miss(const FeedbackSample& sample) override;
  Change on_arrival(BitRate arrived, const FeedbackSample& sample) override;
};

}  // namespace satrelay::control
