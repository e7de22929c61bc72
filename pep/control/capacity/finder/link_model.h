// The link as CapacityFinder knows it, and the instruments that measure it. All modes of the finder
// read and change it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "pep/base/time.h"
#include "pep/base/units.h"
#include "pep/control/capacity/delay_trends.h"
#include "pep/control/capacity/finder/drained_queue.h"
#include "pep/control/capacity/finder/findings.h"
#include "pep/control/capacity/packet_train.h"
#include "pep/control/capacity/path_estimate.h"
#include "pep/control/capacity/standing_queue.h"
#include "pep/control/rate_controller.h"

namespace satrelay::control {

// The percentage of the capacity at which we send. It is below 100, because the found capacity is
// not exact, and because a short queue may remain that must drain.
inline constexpr std::uint64_t kUsedPercent = 97;
// A shorter queue is treated as no queue.
inline constexpr Duration kLeastStanding = Duration::milliseconds(8);
// A train has as many bytes as the rate sends in this time.
inline constexpr Duration kTrainTime = Duration::milliseconds(30);
// Reports with at least this interval are too rare to measure a train.
inline constexpr Duration kRareReports = Duration::milliseconds(50);

struct LinkModel {
  explicit LinkModel(BitRate most) : ceiling(most) {}

  BitRate ceiling;   // the highest rate that may be used
  BitRate capacity;  // the found capacity; zero if none was found yet
  BitRate rate;      // the rate that the mode wants between trains
  PathEstimate path;
  DelayTrends trends;
  StandingQueue queue;
  DrainedQueue drained;
  PacketTrain train;
  Findings findings;
  // Number of findings in mode Cruising since the capacity fell.
  std::size_t since_fall = 0;
  Instant raised = Instant::never();  // when the rate last rose by much

  // Adds a sample that no late machine has distorted.
  void add(const FeedbackSample& sample);
  Duration rtt() const;
  // The sending rate between trains.
  BitRate sustained_rate() const;
  // The time that the sample's newest packet has waited in the queue.
  Duration queue_of(const FeedbackSample& sample) const;
  // The rate at which bytes arrived while the delay grew; nullopt if the delay did not grow.
  std::optional<BitRate> growth() const;
  // The rate that the link carries if packets arrive at the rate `arrived`. It is higher than
  // `arrived`, because some packets are lost after the modem has sent them.
  BitRate despite_loss(BitRate arrived) const { return path.sent_for(arrived, ceiling); }
  // By how many bits per second the rate must be lower, so that the standing queue drains.
  double excess() const;
};

inline DelayTrend::Point point_of(const FeedbackSample& sample) {
  return {sample.sent, sample.arrived, sample.received};
}

}  // namespace satrelay::control
