// Starting: the capacity is unknown. The result of each train becomes the sending rate at once. If
// a train arrives more slowly than it was sent, its result is the capacity of the link.
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
