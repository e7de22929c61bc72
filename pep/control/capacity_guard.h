// Keeps to a known capacity, and finds from feedback when the link carries less and nobody said so
// (docs/stp.md section 12). Loss is never taken for congestion.
//
//   kTrusting --delay grows--> kDraining --queue gone--> kHolding --time to ask--> kProbing
//       ^                          ^                        ^  |                      |
//       |                          +----delay grows---------|--+                      v
//       +--- the known capacity is reached -----------------+<---verdict-------- kJudging
//
// Delays that the gateways' own machines add are no sign of the link (machine_excuse.h). Neither is
// the time that a packet takes on it.
//
// Found: the rate at which packets arrive while the queue grows is what the link carries. Draining:
// next to nothing is sent until no more is in flight than the path holds. Holding: 97% of what was
// found. Probing: 15 ms worth of bytes too many; judging: if they made no queue, there was room.
#pragma once

#include <cstdint>
#include <optional>

#include "pep/base/time.h"
#include "pep/base/units.h"
#include "pep/control/delay_trend.h"
#include "pep/control/hidden_growth.h"
#include "pep/control/machine_excuse.h"
#include "pep/control/rate_controller.h"

namespace satrelay::control {

class CapacityGuard {
 public:
  enum class State : std::uint8_t { kTrusting, kDraining, kHolding, kProbing, kJudging };

  explicit CapacityGuard(BitRate capacity);

  void on_start(const StartSample& sample);
  // What is announced is trusted at once, up and down.
  void on_capacity(BitRate capacity);
  void on_sent(ByteCount accounted, Instant now);
  void on_feedback(const FeedbackSample& sample);

  BitRate rate() const;  // never zero
  // What the link is believed to carry, at most what was announced.
  BitRate capacity() const { return state_ == State::kTrusting ? announced_ : found_; }
  State state() const { return state_; }
  // Whether the last sample was one of the link, and not of a machine that was late.
  bool last_counts() const { return counts_; }
  // Why rate() has last fallen; nullopt: a probe is over.
  std::optional<CutCause> cut_cause() const {
    return state_ == State::kDraining ? std::optional(CutCause::kDelay) : std::nullopt;
  }

 private:
  void take_back_cut(Instant now);
  template <typename Trend>
  void drain(const FeedbackSample& sample, const Trend& trend);
  void refine(const FeedbackSample& sample);
  bool drained(const FeedbackSample& sample) const;
  void hold(Duration time, Instant now);
  void probe(Instant now);
  void judge(const FeedbackSample& sample);
  void on_verdict(bool room, Instant now);
  void note_path(const FeedbackSample& sample);
  BitRate despite_loss(BitRate arrived) const;

  State state_ = State::kTrusting;
  BitRate announced_;
  BitRate most_;  // of it that is sent
  BitRate found_;
  DelayTrend quick_{{Duration::milliseconds(20), 1, Duration::milliseconds(32)}};
  // Finds what the quick one is too short-sighted for: a few per mille too much.
  DelayTrend slow_{{Duration::milliseconds(500), 3, Duration::milliseconds(40)}};
  HiddenGrowth hidden_{{Duration::milliseconds(20), 1, Duration::milliseconds(32)}};
  Instant newest_sent_;
  // What was sent before the last announcement says nothing about it.
  bool sent_since_ = false;
  Instant trusted_since_;
  double loss_ = 0;  // of packets, while there was no queue
  Duration rtt_;     // least lately: that of the path
  Duration next_rtt_;
  Instant next_rtt_since_;

  Instant drain_began_;
  DelayTrend::Point measured_from_;
  Instant hold_until_;
  Duration patience_;       // before the next probe
  std::uint64_t step_ = 0;  // of the probe, per cent above what was found
  Instant probe_began_;
  Instant probe_ends_;
  ByteCount probe_sent_;
  Duration before_probe_;  // least delay then
  Duration since_probe_;
  int judged_ = 0;  // samples

  PunctualSamples punctual_;
  bool counts_ = true;
  CutExcuse excuse_;
  // Before the last cut.
  struct Before {
    bool trusting = true;
    BitRate found;
    Duration patience;
    std::uint64_t step = 0;
    std::optional<Duration> low = {};  // delay, before it grew
  };
  Before before_cut_;
};

}  // namespace satrelay::control
