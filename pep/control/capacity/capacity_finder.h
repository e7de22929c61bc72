// Finds what a link carries if no capacity was announced, and keeps to it (docs/stp.md section 12).
// Loss is never taken for congestion.
//
//   kStarting --a train shows less than its speed--> kCruising <--queue gone-- kDraining
//       |                                              |  ^                       ^
//       +-----------------delay grows------------------+--|-----------------------+
//                                                      |  |
//                            grows again, or queue stays  no other sender
//                                                      v  |
//                                                    kSharing
//
// Packet trains show what the link carries, whether that rises or falls. Cruising: sends 97% of it,
// and less while a standing queue must drain. Sharing: another sender fills the queue. Sends half
// of the capacity, and more as long as that makes no queue.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "pep/base/time.h"
#include "pep/base/units.h"
#include "pep/control/capacity/delay_trend.h"
#include "pep/control/capacity/packet_train.h"
#include "pep/control/capacity/standing_queue.h"
#include "pep/control/machine_excuse.h"
#include "pep/control/rate_controller.h"

namespace satrelay::control {

class CapacityFinder final : public RateController {
 public:
  enum class State : std::uint8_t { kStarting, kCruising, kDraining, kSharing };

  // Never sends more than `ceiling`.
  explicit CapacityFinder(BitRate ceiling) { on_capacity(ceiling); }

  void on_start(const StartSample& sample) override;
  void on_feedback(const FeedbackSample& told) override;
  void on_capacity(BitRate capacity) override;
  Priority on_sent(Purpose purpose, ByteCount accounted, Instant now) override;
  BitRate rate() const override;
  BitRate sustained_rate() const override;
  BitRate capacity() const override;
  ByteCount lead() const override;
  ByteCount train() const override;
  Instant holds_until() const override;
  std::optional<CutCause> cut_cause() const override;
  State state() const { return state_; }
  Duration queue() const { return queue_.length(); }

 private:
  void note_path(const FeedbackSample& sample);
  void note_loss(const FeedbackSample& sample);
  BitRate despite_loss(BitRate arrived) const;
  void look_for_growth(const FeedbackSample& sample);
  void on_growth(BitRate arrived, const FeedbackSample& sample);
  void on_finding(const PacketTrain::Finding& finding, const FeedbackSample& sample);
  void drain(BitRate found, const FeedbackSample& sample);
  void watch_drain(const FeedbackSample& sample);
  bool others_fill_it(const FeedbackSample& sample);
  bool is_overload(const FeedbackSample& sample);
  void cruise(BitRate capacity, Instant now);
  void share(BitRate left, const FeedbackSample& sample);
  void look_for_room(Instant now);
  void test_queue(const FeedbackSample& sample);
  void order_train(Instant now);
  void set_rate();
  BitRate usual_finding() const;
  void follow(BitRate usual);
  void feel(const FeedbackSample& sample);

  State state_ = State::kStarting;
  BitRate ceiling_;
  BitRate capacity_;  // found; zero: not yet
  BitRate rate_;
  bool is_cut_ = false;  // since the last train
  ByteCount packet_ = ByteCount(1538);
  std::uint64_t sent_packets_ = 0;
  double loss_ = 0;                             // of packets, while there was no queue
  Duration rtt_ = Duration::milliseconds(600);  // the shortest lately
  Duration next_rtt_;
  Instant next_rtt_since_;
  Duration interval_ = Duration::milliseconds(25);  // of reports
  Instant idle_since_;

  DelayTrend quick_{{Duration::milliseconds(20), 1, Duration::milliseconds(32)}};
  // Finds slow growth, which quick_ does not see.
  DelayTrend slow_{{Duration::milliseconds(500), 3, Duration::milliseconds(40)}};
  StandingQueue queue_;

  PacketTrain train_;
  PunctualSamples punctual_;
  Instant next_train_;
  static constexpr std::size_t kFindings = 8, kUsual = 5;
  std::array<BitRate, kFindings> findings_{};  // the last ones, in a ring
  std::size_t finding_count_ = 0;
  std::size_t since_fall_ = 0;  // findings since the capacity fell
  int missed_ = 0;              // trains in a row that showed nothing
  DelayTrend::Point felt_from_;

  Instant drain_began_ = Instant::never();  // never(): the result of the last drain is known
  DelayTrend::Point measured_from_;
  Duration drained_queue_;  // the longest of the packets sent before the drain

  // When the rate last rose by much.
  Instant raised_ = Instant::never();
  // Sharing. alone_: capacity found before others sent, zero if none was found. left_: the rate
  // that makes no queue. step_: the part of the capacity by which left_ grows next.
  BitRate alone_;
  BitRate left_;
  std::uint64_t step_ = 0;  // per mille
  Instant next_step_;
  Instant alone_since_ = Instant::never();
  DelayTrend::Point overload_from_;
  std::uint64_t shared_packets_ = 0, shared_lost_ = 0;

  // A test of the queue: a pause, then the delay of the first packet behind it.
  Instant stands_since_ = Instant::never();
  Duration stood_ = Duration::zero();
  Instant pause_until_;
  Duration before_pause_;
  std::uint64_t first_behind_ = 0;
  bool testing_ = false;
};

}  // namespace satrelay::control
