// Loss recovery of one direction. It knows which bytes are outstanding, which of them the peer has,
// and which count as lost. It decides what is sent again, what counts as one episode of congestion,
// and when to look again.
//
// If the peer has SACK, RACK-TLP (RFC 8985) finds losses, and the pipe is that of RFC 6675. If not,
// duplicate ACKs find losses (RFC 6582). If nothing else helps, the retransmission timeout does
// (RFC 6298). Timers: kRetransmission, kProbe and kReordering.
//
// It knows neither the congestion window nor the peer's. The sender asks both before it sends, and
// tells WindowControl what handle_*() found. Positions are stream positions, and include the FIN.
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
  // `selective`: both sides use SACK.
  void establish(bool selective) { selective_ = selective; }
  // Frees memory that is needed only while something is in flight. `idle`: the sender waits for
  // nothing, and has nothing to send.
  void trim(bool idle);

  // --- getters ---
  const Scoreboard& board() const { return board_; }
  RttEstimator& rtt() { return rtt_; }
  const RttEstimator& rtt() const { return rtt_; }
  Phase phase() const { return phase_; }
  bool is_open() const { return phase_ == Phase::kOpen; }
  std::uint8_t retries() const { return retries_; }  // timeouts since the peer took anything

  // --- output ---
  // Segments of new data that may be sent before any is acknowledged.
  std::size_t room_for_segments() const;
  // The first lost segment leaves whatever the windows say.
  bool forces_retransmission() const { return force_; }
  // The tail of the flight is to be probed (RFC 8985 section 7.3): by new data, or by last_sent().
  bool owes_tail_probe() const { return tail_probe_owed_; }
  // The segment that was last sent for the first time, if any is outstanding.
  Range last_sent() const { return in_flight_->rack.segments().last(); }
  // New data was sent, directly behind all before. wait_for_acknowledgment() must follow the last
  // of several such segments.
  void on_sent(Range range, Instant now);
  void wait_for_acknowledgment(Environment& around, Instant now);
  // `range` was sent once more, as one segment.
  void on_retransmitted(Range range, Environment& around, Instant now);
  // No probe of the tail could be sent, or one was.
  void drop_tail_probe() { tail_probe_owed_ = false; }
  void on_tail_probe_sent(bool retransmission, Environment& around);

  // --- input ---
  // The findings of one ACK. Each flag is one signal of congestion, in the order of time.
  struct Finding {
    std::uint64_t fresh = 0;     // bytes reported for the first time
    Duration rtt;                // zero: no sample
    bool tail_repaired = false;  // a tail probe replaced a lost segment
    bool recovered = false;      // fast recovery is over
    bool lost = false;           // fast recovery begins
  };
  struct AckContext {
    bool window_changed = false;     // the ACK changes the peer's window
    std::uint32_t segment_size = 0;  // usual payload
  };
  Finding handle_acknowledgment(const Acknowledgment& acknowledgment, const AckContext& context,
                                Environment& around, Instant now);
  // Whether the ECN echo of an ACK is a new signal: it counts once a window of data (RFC 3168
  // section 6.1.2).
  bool takes_echo(std::uint64_t ack);
  // No data is reported or suspected to be missing, and no probe is in flight. For an ACK that
  // acknowledges more data, and reports nothing, handle_advance() is then enough. on_advanced()
  // must follow the last of several such ACKs.
  bool misses_nothing(const Timers& timers) const;
  Finding handle_advance(const Acknowledgment& acknowledgment, Environment& around, Instant now);
  void on_advanced(Environment& around, Instant now);
  // The peer is alive, though it takes no data: its window is closed.
  void forgive_retries() { retries_ = 0; }
  // All data from `position` on was too large for the path, and is sent again. The path is not
  // congested.
  void handle_smaller_path(std::uint64_t position, Environment& around, Instant now);

  // --- timers ---
  // RFC 6298 section 5.4, for data that is outstanding.
  void handle_retransmission_timeout(Environment& around, Instant now);
  void handle_tail_probe_timeout(Environment& around, Instant now);
  // Whether fast recovery begins.
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
