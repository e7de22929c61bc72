// Sharing: another sender fills the queue. Sends at half of the capacity, and at more as long as
// that makes no queue.
#pragma once

#include <cstdint>

#include "pep/base/time.h"
#include "pep/base/units.h"
#include "pep/control/capacity/finder/finder_mode.h"

namespace satrelay::control {

class SharingMode final : public FinderMode {
 public:
  // `left` is the rate that other senders leave us.
  SharingMode(LinkModel& link, BitRate left, const FeedbackSample& sample);

  Change on_growth(BitRate arrived, const FeedbackSample& sample) override;
  Change on_finding(const PacketTrain::Finding& finding, const FeedbackSample& sample) override;
  Change on_feedback(const FeedbackSample& sample) override;
  void set_rate() override;

 private:
  void leave(BitRate left, Instant now);
  Change look_for_overload(const FeedbackSample& sample);
  Change look_for_room(Instant now);

  BitRate alone_;           // capacity found before others sent; zero if none was found
  BitRate left_;            // the rate that other senders leave us without a queue
  std::uint64_t step_ = 0;  // next growth of left_, per mille of the capacity
  Instant next_step_;
  Instant alone_since_ = Instant::never();
  DelayTrend::Point overload_from_;
  std::uint64_t packets_ = 0, lost_ = 0;  // since overload_from_
};

}  // namespace satrelay::control
