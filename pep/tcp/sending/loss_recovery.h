// Loss recovery of one direction. This class knows which bytes are outstanding, which of them the
// peer has, and which count as lost. It decides which bytes are retransmitted, which losses belong
// to the same congestion event, and when to check for losses again.
//
// With SACK, RACK-TLP (RFC 8985) finds losses, and the pipe is calculated as in RFC 6675. Without
// SACK, duplicate ACKs find losses (RFC 6582). The retransmission timeout (RFC 6298) is the last
// resort. Timers: kRetransmission, kProbe and kReordering.
//
// This class knows neither the congestion window nor the peer's window. The sender checks both
// before it sends, and passes the results of handle_*() to WindowControl. Positions are stream
// positions, and include the FIN.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "pep/base/image/image.h"
#include "pep/tcp/environment.h"
#include "pep/tcp/sending/acknowledgment.h"
#include "pep/tcp/sending/in_flight.h"
#include "pep/tcp/sending/rtt_estimator.h"
#include "pep/tcp/sending/scoreboard.h"

namespace satrelay::tcp {

inline RttEstimator::Limits rto_limits(const Profile& profile) {
  return {profile.minimum_rto, profile.maximum_rto, profile.initial_rto};
}

class LossRecovery {
 public:
  enum class Phase : std::uint8_t {
    kOpen,  // no loss known
    kFast,  // RFC 6675, RFC 6582
    kLoss,  // after a retransmission timeout
  };

  explicit LossRecovery(const Profile& profile) : rtt_(rto_limits(profile)) {}
  void image(Image& image) {
    image(board_, rtt_, in_flight_, retries_, phase_, selective_, force_, tail_probe_owed_);
  }
  // `selective` is true if both sides use SACK.
  void establish(bool selective) { selective_ = selective; }
  // Frees memory that is needed only while data is in flight. `idle` is true if the sender waits
  // for nothing and has nothing to send.
  void trim(bool idle);

  // --- getters ---
  const Scoreboard& board() const { return board_; }
  RttEstimator& rtt() { return rtt_; }
  const RttEstimator& rtt() const { return rtt_; }
  Phase phase() const { return phase_; }
  bool is_open() const { return phase_ == Phase::kOpen; }
  // Number of timeouts since the peer last acknowledged new data or answered with a closed window.
  std::uint8_t retries() const { return retries_; }

  // --- output ---
  // Number of segments of new data that may still be sent before the peer acknowledges older
  // segments.
  std::size_t room_for_segments() const;
  // Whether the first lost segment may be sent even if the windows do not allow it.
  bool forces_retransmission() const { return force_; }
  // Whether a tail loss probe must be sent (RFC 8985 section 7.3). The probe is new data, or
  // last_sent() again if there is no new data.
  bool owes_tail_probe() const { return tail_probe_owed_; }
  // The newest segment that was sent for the first time. Some data must be outstanding.
  Range last_sent() const { return in_flight_->rack.segments().last(); }
  // Notes that new data was sent, directly after all earlier data. If several such segments are
  // sent together, call wait_for_acknowledgment() after the last.
  void on_sent(Range range, Instant now);
  void wait_for_acknowledgment(Environment& around, Instant now);
  // Notes that `range` was retransmitted as one segment.
  void on_retransmitted(Range range, Environment& around, Instant now);
  // Makes owes_tail_probe() false, even if no probe could be sent.
  void drop_tail_probe() { tail_probe_owed_ = false; }
  void on_tail_probe_sent(bool retransmission, Environment& around);

  // --- input ---
  // The results of one ACK. Each flag except `recovered` is a signal of congestion. The flags are
  // in the order in which they must be handled.
  struct Finding {
    std::uint64_t fresh = 0;     // bytes acknowledged or reported for the first time
    Duration rtt;                // zero if there is no sample
    bool tail_repaired = false;  // a tail probe replaced a lost segment
    bool recovered = false;      // fast recovery has ended
    bool lost = false;           // fast recovery has begun
  };
  struct AckContext {
    bool window_changed = false;     // the ACK changes the peer's window
    std::uint32_t segment_size = 0;  // usual payload of a segment, in bytes
  };
  Finding handle_acknowledgment(const Acknowledgment& acknowledgment, const AckContext& context,
                                Environment& around, Instant now);
  // Whether the ECN echo of an ACK is a new signal. An echo counts once per window of data (RFC
  // 3168 section 6.1.2).
  bool takes_echo(std::uint64_t ack);
  // Whether no data is known or suspected to be missing, and no probe is in flight. If so,
  // handle_advance() is enough for an ACK that acknowledges more data and has no SACK blocks. Call
  // on_advanced() after the last of several such ACKs.
  bool misses_nothing(const Timers& timers) const;
  Finding handle_advance(const Acknowledgment& acknowledgment, Environment& around, Instant now);
  void on_advanced(Environment& around, Instant now);
  // Call when the peer is alive, but its closed window keeps it from accepting data.
  void forgive_retries() { retries_ = 0; }
  // Retransmits all data from `position` on, as its segments were too large for the path. This is
  // no sign of congestion.
  void handle_smaller_path(std::uint64_t position, Environment& around, Instant now);

  // --- timers ---
  // Handles an expired retransmission timer (RFC 6298 section 5.4). Some data must be outstanding.
  void handle_retransmission_timeout(Environment& around, Instant now);
  void handle_tail_probe_timeout(Environment& around, Instant now);
  // Returns whether fast recovery begins.
  bool handle_reordering_timeout(Environment& around, Instant now);

 private:
  InFlight& in_flight() {
    if (!in_flight_) [[unlikely]]
      in_flight_ = std::make_unique<InFlight>();
    return *in_flight_;
  }
  bool probe_in_flight() const { return in_flight_ && in_flight_->probe.in_flight(); }
  Rack::Circumstances circumstances(Instant now) const {
    return {!is_open(), rtt_.smoothed(), now};
  }
  void restart_retransmission_timer(Environment& around, Instant now) const;
  void schedule_tail_probe(Environment& around, Instant now);
  void forget_tail_probe(Environment& around);
  std::uint64_t take_advance(const Acknowledgment& acknowledgment, const Rack::Arrival& arrival);
  std::uint64_t take_reports(const Acknowledgment& acknowledgment, std::uint64_t advance,
                             Environment& around, Instant now);
  bool judge_tail_probe(const Acknowledgment& acknowledgment, std::uint64_t advance,
                        Environment& around);
  Duration take_rtt(const Acknowledgment& acknowledgment, bool advanced, Environment& around,
                    Instant now);
  void count_duplicates(const Acknowledgment& acknowledgment, std::uint64_t advance,
                        const AckContext& context);
  void find_losses(Environment& around, Instant now);
  void update_phase(std::uint64_t advance, const AckContext& context, Finding& finding,
                    Environment& around, Instant now);
  void enter_fast_recovery(Environment& around);
  void mark_lost_at_timeout(Instant now);

  Scoreboard board_;
  RttEstimator rtt_;
  std::unique_ptr<InFlight> in_flight_;  // nullptr while the sender is idle
  std::uint8_t retries_ = 0;
  Phase phase_ = Phase::kOpen;
  bool selective_ = false;
  bool force_ = false;
  bool tail_probe_owed_ = false;
};

}  // namespace satrelay::tcp
