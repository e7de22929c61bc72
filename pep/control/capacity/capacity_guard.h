// Limits the rate to an announced capacity, and detects by feedback that the link carries less
// although no announcement said so (docs/stp.md section 12). Loss is never taken for congestion.
//
//   kTrusting --delay grows--> kDraining --queue gone--> kHolding
//       ^                          ^                        |  |
//       |                          +------delay grows-------+  |
//       +--------- bursts have shown the known capacity -------+
//
// Delays that the gateways' own machines add do not count (machine_excuse.h). The time that a
// packet itself takes on the link does not count either.
//
// While the queue grows, packets arrive at the rate that the link carries: this is the found
// capacity. In kDraining, the guard sends at a sixteenth of the found capacity until no more bytes
// are in flight than the path holds. In kHolding, it sends at 97% of the found capacity, and bursts
// test whether the link carries more (room_search.h).
#pragma once

#include <cstdint>
#include <optional>

#include "pep/base/time.h"
#include "pep/base/units.h"
#include "pep/control/capacity/delay_trends.h"
#include "pep/control/capacity/hidden_growth.h"
#include "pep/control/capacity/path_estimate.h"
#include "pep/control/capacity/room_search.h"
#include "pep/control/machine_excuse.h"
#include "pep/control/rate_controller.h"

namespace satrelay::control {

class CapacityGuard {
 public:
  enum class State : std::uint8_t { kTrusting, kDraining, kHolding };

  explicit CapacityGuard(BitRate capacity);

  void on_start(const StartSample& sample);
  // Uses an announced capacity at once, even if it is higher than the found capacity.
  void on_capacity(BitRate capacity);
  void on_sent(ByteCount accounted, Instant now);
  void on_feedback(const FeedbackSample& sample);

  BitRate rate() const;            // never zero
  BitRate sustained_rate() const;  // without bursts
  // Whether a burst is being sent. rate() falls when the last packet of the burst was sent.
  bool probes() const { return state_ == State::kHolding && room_.probes().leaves(); }
  // When the pause after a burst ends (room_probes.h).
  Instant holds_until() const {
    return state_ == State::kHolding ? room_.probes().rests_until() : Instant();
  }
  bool take_question() { return room_.probes().take_question(); }
  // The capacity that the guard assumes, at most the announced one.
  BitRate capacity() const { return state_ == State::kTrusting ? announced_ : found_; }
  State state() const { return state_; }
  // Whether the last sample shows the delay of the link, without delay from a late machine.
  bool last_counts() const { return counts_; }
  // Why rate() last fell; nullopt if the guard did not cut the rate.
  std::optional<CutCause> cut_cause() const {
    return state_ == State::kDraining ? std::optional(CutCause::kDelay) : std::nullopt;
  }

 private:
  void take_back_cut(Instant now);
  template <typename Trend>
  void drain(const FeedbackSample& sample, const Trend& trend);
  void refine(const FeedbackSample& sample);
  bool drained(const FeedbackSample& sample) const;
  void hold(Instant now);
  void look_for_room(const FeedbackSample& sample);
  void note_path(const FeedbackSample& sample);
  void forget_delays();
  // The rate that the link carries if packets arrive at the rate `arrived`. It is higher than
  // `arrived`, because some packets are lost after the modem has sent them.
  BitRate despite_loss(BitRate arrived) const { return path_.sent_for(arrived, announced_); }

  State state_ = State::kTrusting;
  BitRate announced_;
  BitRate most_;  // the paced rate for announced_
  BitRate found_;
  DelayTrends trends_;
  HiddenGrowth hidden_{{Duration::milliseconds(20), 1, Duration::milliseconds(32)}};
  // Samples of packets that were sent before this time are ignored. It is the time at which the
  // first packet after the last announcement was sent, or at which the guard last undid a cut of
  // the rate. nullopt if no packet was sent since the announcement.
  std::optional<Instant> trusted_since_;
  PathEstimate path_;

  Instant drain_began_;
  DelayTrend::Point measured_from_;
  RoomSearch room_;
  std::uint64_t sent_packets_ = 0;

  PunctualSamples punctual_;
  bool counts_ = true;
  CutExcuse excuse_;
  // State before the last cut.
  struct Before {
    bool trusting = true;
    BitRate found;
    RoomSearch::Pace pace;
    std::optional<Duration> low = {};  // delay before the suspected growth
  };
  Before before_cut_;
};

}  // namespace satrelay::control
