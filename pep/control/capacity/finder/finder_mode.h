// A mode of CapacityFinder: one phase of its search, with the state that only this phase needs. The
// finder constructs a mode when it changes to that mode, and destroys it when it changes to another
// mode. The LinkModel has the state that outlives a mode.
#pragma once

#include <cstdint>
#include <optional>

#include "pep/base/time.h"
#include "pep/base/units.h"
#include "pep/control/capacity/finder/link_model.h"
#include "pep/control/capacity/packet_train.h"
#include "pep/control/rate_controller.h"

namespace satrelay::control {

class FinderMode {
 public:
  enum class Kind : std::uint8_t { kStarting, kCruising, kDraining, kSharing };
  // The next mode, and the rate with which that mode begins.
  struct Next {
    Kind kind;
    BitRate rate;
  };
  using Change = std::optional<Next>;  // nullopt if the mode goes on
  // Properties of the trains that a mode wants.
  struct TrainStyle {
    std::uint64_t more_speed = 0;  // added to a train's speed, as a multiple of the rate
    std::uint64_t least_packets = 5;
    Duration longest_rest = Duration::infinite();
    Duration period = Duration::milliseconds(500);
  };

  virtual ~FinderMode() = default;
  // Called when the delay has grown, while packets arrived at the rate `arrived`.
  virtual Change on_growth(BitRate arrived, const FeedbackSample& sample) = 0;
  // Called when a train has a result. The rate in the result is at most the ceiling.
  virtual Change on_finding(const PacketTrain::Finding& finding, const FeedbackSample& sample) = 0;
  // Called when a train has no result.
  virtual void on_miss(const FeedbackSample&) {}
  // Called when trains have no results because reports are too rare. The link carries at least
  // `arrived`.
  virtual Change on_arrival(BitRate arrived, const FeedbackSample& sample) {
    (void)arrived, (void)sample;
    return std::nullopt;
  }
  // Called for each sample, after the functions above.
  virtual Change on_feedback(const FeedbackSample&) { return std::nullopt; }
  // Computes LinkModel::rate from the other values of the model.
  virtual void set_rate() {}
  virtual bool wants_train() const { return true; }
  const TrainStyle& trains() const { return trains_; }

 protected:
  FinderMode(LinkModel& link, const TrainStyle& trains) : link_(link), trains_(trains) {}

  LinkModel& link_;

 private:
  TrainStyle trains_;
};

}  // namespace satrelay::control
