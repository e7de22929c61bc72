// TP-S (Yu, Zhou): Super Start, and packets of alternating priority, by which the sender
// distinguishes congestion from loss on the channel (sections 2.2 and 2.3). The algorithm is made
// for one report per round trip (M-NACK).
//
// Windows count full packets. The packets of a window are paced over a round trip, at intervals of
// tau = RTT / cwnd. In Super Start, the interval is 2 RTT / rwnd. We read equation (4) in this way,
// because figure 2 sends rwnd segments within 2 RTT.
#pragma once

#include <cstdint>
#include <optional>

#include "pep/control/rate_controller.h"

namespace satrelay::control {

class Tps final : public RateController {
 public:
  struct Config {
    BitRate capacity;  // of the carrier
    // rwnd, in packets. 0 means the number of packets that the capacity carries in a round trip.
    std::uint32_t window = 0;
  };
  explicit Tps(const Config& config) : config_(config) {}

  void on_start(const StartSample& sample) override;
  void on_feedback(const FeedbackSample& sample) override;
  void on_capacity(BitRate capacity) override;
  Priority on_sent(Purpose purpose, ByteCount accounted, Instant now) override;
  BitRate rate() const override;
  bool is_steady() const override { return true; }
  std::optional<CutCause> cut_cause() const override { return CutCause::kLoss; }
  ByteCount window() const override;

  bool starting() const { return starting_; }
  std::uint64_t congestion_window() const { return window_; }  // packets
  std::uint64_t receive_window() const { return most_; }

 private:
  void set_receive_window();
  void judge_round(Instant now);
  Config config_;
  ByteCount packet_ = ByteCount(1500);
  Duration rtt_ = Duration::milliseconds(600);
  std::uint64_t most_ = 64;    // rwnd
  std::uint64_t window_ = 32;  // cwnd
  bool starting_ = true;
  bool sending_ = false;  // the first round has begun: something was sent
  bool low_next_ = false;
  bool recovering_ = false;  // retransmissions have alternating priorities as well
  Instant round_ends_;
  Instant halved_at_;
  // Packets of this round.
  std::uint64_t received_ = 0, lost_ = 0, low_lost_ = 0;
};

}  // namespace satrelay::control
