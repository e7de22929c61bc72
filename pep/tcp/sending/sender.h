// The sending half of an endpoint: decides what to send next, and when to send it again.
//
// control::WindowController does congestion control. RACK-TLP (RFC 8985) finds losses. Losses are
// repaired as in RFC 6675, as in RFC 6582 if the peer has no SACK, and as in RFC 6298 if nothing
// else helps. Nagle's algorithm is absent on purpose: a relay must not delay what an application
// has sent.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "pep/base/arena.h"
#include "pep/base/containers/byte_queue.h"
#include "pep/control/window_controller.h"
#include "pep/tcp/environment.h"
#include "pep/tcp/sending/in_flight.h"
#include "pep/tcp/sending/rtt_estimator.h"
#include "pep/tcp/sending/scoreboard.h"
#include "pep/tcp/types.h"

namespace satrelay::tcp {

// A data segment to build: positions [begin, begin + size), then perhaps the FIN.
struct Transmission {
  std::uint64_t begin = 0;
  std::uint16_t size = 0;
  bool fin = false;
  bool push = false;
  bool fresh = false;    // sent for the first time
  bool reduced = false;  // the first since the congestion window was reduced (CWR)
};

// The parts of an acceptable segment that concern the sender.
struct Acknowledgment {
  std::uint64_t ack = 0;           // position, at most next()
  std::int64_t sequence = 0;       // position of the segment itself
  std::uint64_t window = 0;        // bytes, unscaled
  bool congestion_echo = false;    // ECE
  bool occupies_sequence = false;  // carries payload or FIN: never a duplicate ACK
  std::span<const Range> sack;     // positions
  std::optional<Range> duplicate;  // range that the peer reports to have had before (RFC 2883)
  Duration timestamp_rtt;          // from TSecr; zero if there is none
  Instant echoed_before = Instant::never();  // the value in TSecr was sent before this
};

enum class TimeoutOutcome : std::uint8_t { kContinues, kGivesUp };

class Sender {
 public:
  // `around` outlives it.
  explicit Sender(Environment& around)
      : around_(around), queue_(around.arena()), rtt_(rtt_limits()) {}

  // --- the application ---
  [[nodiscard]] std::size_t write(ConstBytes bytes);
  std::uint64_t writable() const;
  // Bytes that are yet to be written are urgent up to the offset `mark`. Segments carry an urgent
  // pointer until the peer has acknowledged them. At a closed window, a probe carries the first
  // mark at once.
  UrgentMarks::Added mark_urgent(std::uint64_t mark);
  void close() { closed_ = true; }
  bool close_called() const { return closed_; }
  // Forgets all stored bytes, and a FIN that the peer has not acknowledged. Nothing may be sent
  // after that.
  void drop();
  // Frees memory that is needed only while something is in flight.
  void trim();

  // --- the handshake ---
  struct Established {
    std::uint32_t segment_size = 0;  // usual payload: the peer's MSS less the usual options
    std::uint64_t window = 0;        // the peer's, bytes
    bool selective = false;          // both sides use SACK
  };
  void establish(const Established& parameters);
  void take_handshake_rtt(Duration rtt) { rtt_.sample(rtt, rtt_limits()); }
  // A SYN was not answered in time. If several were sent, none of them is timed.
  void back_off() { rtt_.back_off(rtt_limits()); }
  void distrust_initial_rtt() { rtt_.distrust_initial(rtt_limits()); }
  const RttEstimator& rtt() const { return rtt_; }

  // --- input ---
  void handle_acknowledgment(const Acknowledgment& acknowledgment, Instant now);
  // Whether an ACK on data says nothing new: all sent data has arrived, and the window is
  // unchanged. It says nothing about a tail probe either: only an ACK without data does.
  bool is_known(std::uint64_t ack, std::uint64_t window, std::int64_t sequence) const {
    return board_.outstanding() == 0 && ack == una() && ack + window == peer_edge_ &&
           sequence >= window_sequence_ && !timers().armed(Timer::kPersist);
  }
  // Such ACKs came. `sequence`: position of the last of these segments.
  void handle_known(std::int64_t sequence) {
    probes_unanswered_ = 0;
    if (peer_edge_ <= una()) retries_ = 0;
    window_sequence_ = sequence;
  }
  // The peer has answered neither retransmissions nor probes of its closed window, for more than
  // 100 s.
  bool sends_in_vain() const { return retries_ + probes_unanswered_ >= kRetriesInVain; }
  // No data is reported or suspected to be missing, and no probe is in flight. For an ACK that
  // acknowledges more data, and reports nothing, handle_advance() is then enough. on_advanced()
  // must follow the last of several such ACKs.
  bool misses_nothing() const {
    if (recovery_ != Recovery::kOpen || board_.has_sacked() || board_.has_lost()) return false;
    if (probe_in_flight() || timers().armed(Timer::kReordering)) return false;
    return !in_flight_ || in_flight_->duplicates == 0;
  }
  void handle_advance(const Acknowledgment& acknowledgment, Instant now);
  void on_advanced(Instant now);
  TimeoutOutcome handle_retransmission_timeout(Instant now);
  TimeoutOutcome handle_persist_timeout(Instant now);
  void handle_probe_timeout(Instant now);
  void handle_reordering_timeout(Instant now);

  // Segments of more than `segment_size` do not get through: sends smaller ones from now on, and
  // sends all data from `position` on again. The path is not congested.
  void handle_smaller_path(std::uint64_t position, std::uint32_t segment_size, Instant now);

  // --- output ---
  // The next segment with at most `room` payload bytes. It counts as sent. nullopt if none may be
  // sent now.
  std::optional<Transmission> poll(std::uint16_t room, Instant now);
  // Takes up to `most` segments of exactly `room` bytes that poll() would give one after the other.
  // Returns how many; they count as sent, and the first begins where next() was. It never takes the
  // last data, and leaves anything else that must be told or decided to poll().
  std::size_t poll_run(std::uint16_t room, std::size_t most, Instant now);
  // Whether poll() could have a segment. Cheap enough for every call.
  bool has_work() const;
  // Whether any probe of a closed window is owed. take_probe() takes the usual one: an empty
  // segment one below una().
  bool owes_probe() const { return window_probe_owed_ || urgent_probe_owed_; }
  bool take_probe() { return std::exchange(window_probe_owed_, false); }
  // The urgent probe goes first: an empty segment at una(). A peer with a closed window takes the
  // urgent pointer of no other empty segment.
  bool take_urgent_probe() { return std::exchange(urgent_probe_owed_, false); }

  // --- getters ---
  const ByteQueue& queue() const { return queue_; }
  [[nodiscard]] bool own() { return queue_.own(); }
  void disown() { queue_.disown(); }
  std::uint64_t una() const { return board_.una(); }
  std::uint64_t next() const { return board_.next(); }
  std::uint64_t end() const { return queue_.end() + (closed_ ? 1 : 0); }  // FIN included
  // The first urgent mark beyond `position`; 0: none.
  std::uint64_t urgent_beyond(std::uint64_t position) const {
    return is_urgent() ? in_flight_->urgent->after(position) : 0;
  }
  bool is_urgent() const { return in_flight_ && in_flight_->urgent; }
  bool fin_acknowledged() const { return closed_ && board_.una() > queue_.end(); }
  std::uint64_t peer_edge() const { return peer_edge_; }
  std::uint64_t peer_window() const { return peer_edge_ > una() ? peer_edge_ - una() : 0; }
  std::uint64_t largest_peer_window() const { return largest_window_; }
  std::uint64_t congestion_window() const {
    if (controller_) return controller_->window();
    return established_ ? control::initial_window(segment_size_) : 0;
  }

 private:
  enum class Recovery : std::uint8_t {
    kOpen,  // no loss known
    kFast,  // RFC 6675 / RFC 6582
    kLoss,  // after a retransmission timeout
  };
  bool congestion_allows(std::uint64_t bytes) const;
  // Segments of new data that may be sent before any is acknowledged.
  std::size_t room_for_segments() const;
  std::uint16_t room_until_mark(std::uint64_t begin, std::uint16_t room) const;
  bool pushes(std::uint64_t end) const;
  std::optional<Transmission> poll_lost(std::uint16_t room, Instant now);
  std::optional<Transmission> poll_new(std::uint16_t room, Instant now);
  std::optional<Transmission> poll_probe(std::uint16_t room, Instant now);
  Transmission retransmit(Range range, Instant now);
  void arm_persist_if_blocked(Instant now);
  void hasten_override(Instant now);
  void restart_retransmission_timer(Instant now);
  void schedule_probe(Instant now);
  bool take_window(const Acknowledgment& acknowledgment, std::uint64_t una_before, Instant now);
  Duration take_rtt(const Acknowledgment& acknowledgment, bool advanced, Instant now);
  void count_duplicates(const Acknowledgment& acknowledgment, std::uint64_t advance,
                        bool window_changed);
  std::uint64_t take_advance(const Acknowledgment& acknowledgment, const Rack::Arrival& arrival);
  std::uint64_t take_reports(const Acknowledgment& acknowledgment, std::uint64_t advance,
                             Instant now);
  void judge_probe(const Acknowledgment& acknowledgment, std::uint64_t advance,
                   std::uint64_t flight, Instant now);
  void update_recovery(std::uint64_t advance, std::uint64_t flight, Instant now);
  void find_losses(Instant now);
  void mark_lost_at_timeout(Instant now);
  const Profile& profile() const { return around_.profile(); }
  Timers& timers() const { return around_.timers; }
  Counters& counters() const { return around_.counters(); }
  RttEstimator::Limits rtt_limits() const {
    return {profile().minimum_rto, profile().maximum_rto, profile().initial_rto};
  }
  InFlight& in_flight() {
    if (!in_flight_) [[unlikely]]
      in_flight_ = std::make_unique<InFlight>();
    return *in_flight_;
  }
  void begin_flight(Instant now);
  void note_sent(Range range, Instant now);
  void begin_waiting(Instant now);
  bool probe_in_flight() const { return in_flight_ && in_flight_->probe.in_flight(); }
  control::WindowController& controller() {
    if (!controller_) [[unlikely]]
      make_controller();
    return *controller_;
  }
  void make_controller();
  Rack::Circumstances circumstances(Instant now) const {
    return {recovery_ != Recovery::kOpen, rtt_.smoothed(), now};
  }
  void reduce(const control::LossSample& sample);
  void enter_fast_recovery(std::uint64_t flight, Instant now);

  Environment& around_;
  ByteQueue queue_;
  Scoreboard board_;
  RttEstimator rtt_;
  std::unique_ptr<InFlight> in_flight_;  // nullptr while the sender is idle
  // Made when first needed, usually at the first ACK of data. trim() frees an idle one that knows
  // of no loss, as a new one is equal to it.
  std::unique_ptr<control::WindowController> controller_;

  std::uint64_t peer_edge_ = 0;  // first position that the peer's window excludes
  std::uint64_t largest_window_ = 0;
  std::int64_t window_sequence_ = -1;  // SND.WL1

  Instant last_sent_;
  std::uint32_t segment_size_ = 536;
  static constexpr std::uint8_t kRetriesInVain = 9;  // 102 s with the least RTO
  std::uint8_t retries_ = 0;
  std::uint8_t probes_unanswered_ = 0;
  Recovery recovery_ = Recovery::kOpen;
  bool established_ = false;
  bool selective_ = false;
  bool closed_ = false;
  bool reduction_to_tell_ = false;  // CWR
  bool force_ = false;              // send the first lost segment whatever the windows say
  bool override_ = false;           // silly-window override: send what fits
  bool window_probe_owed_ = false;
  bool urgent_probe_owed_ = false;
  bool tail_probe_owed_ = false;
};

}  // namespace satrelay::tcp
