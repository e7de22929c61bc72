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

// The found capacity is not exact, and the rest of a queue must drain.
inline constexpr std::uint64_t kUsedPercent = 97;
// A shorter queue does not count as one.
inline constexpr Duration kLeastStanding = Duration::milliseconds(8);
// A train is what the rate sends in this time.
inline constexpr Duration kTrainTime = Duration::milliseconds(30);
// Reports that are so far apart are too rare to show a train.
inline constexpr Duration kRareReports = Duration::milliseconds(50);

struct LinkModel {
  explicit LinkModel(BitRate most) : ceiling(most) {}

  BitRate ceiling;   // the most that may be sent
  BitRate capacity;  // found; zero: not yet
  BitRate rate;      // that the mode wants, without trains
  PathEstimate path;
  DelayTrends trends;
  StandingQueue queue;
  DrainedQueue drained;
  PacketTrain train;
  Findings findings;
  std::size_t since_fall = 0;         // findings while cruising since the capacity fell
  Instant raised = Instant::never();  // when the rate last rose by much

  // Takes a sample that no late machine has made.
  void add(const FeedbackSample& sample);
  Duration rtt() const;
  // The rate that is sent, without trains.
  BitRate sustained_rate() const;
  // The queue that the sample's newest packet has seen.
  Duration queue_of(const FeedbackSample& sample) const;
  // The rate of arrival while the delay grew; nullopt if it did not grow.
  std::optional<BitRate> growth() const;
  // The link carries more than what arrives: some packets are lost beyond the modem.
  BitRate despite_loss(BitRate arrived) const { return path.sent_for(arrived, ceiling); }
  // Bits a second to leave out so that the standing queue drains.
  double excess() const;
};

inline DelayTrend::Point point_of(const FeedbackSample& sample) {
  return {sample.sent, sample.arrived, sample.received};
}

}  // namespace satrelay::control
