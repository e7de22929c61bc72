// The sending half of an endpoint: stores bytes, and decides which segment is next.
//
//   ACK  ------> LossRecovery   what is lost, and what is sent again --+
//   timers           | signals of congestion                           |
//                    v                                                 v
//                WindowControl  what the network may carry -------> poll()
//   ACK  ------> PeerWindow     what the peer takes ------------------^
//
// The parts do not know each other: the sender passes on what one part found and another needs.
// Each call has the endpoint's Environment, so that no part keeps a reference to it.
//
// Nagle's algorithm is absent on purpose: a relay must not delay what an application has sent.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "pep/base/arena.h"
#include "pep/base/containers/byte_queue.h"
#include "pep/base/image/image.h"
#include "pep/tcp/environment.h"
#include "pep/tcp/sending/acknowledgment.h"
#include "pep/tcp/sending/loss_recovery.h"
#include "pep/tcp/sending/peer_window.h"
#include "pep/tcp/sending/window_control.h"
#include "pep/tcp/urgent_marks.h"

namespace satrelay::tcp {

// Data segments to build. The first has positions [begin, begin + size), then perhaps the FIN.
struct Transmission {
  std::uint64_t begin = 0;
  std::uint16_t size = 0;
  std::size_t count = 1;  // each has `size` bytes, and begins where the one before it ends
  bool fin = false;
  bool push = false;
  bool fresh = false;    // sent for the first time
  bool reduced = false;  // the first since the congestion window was reduced (CWR)
};

class Sender {
 public:
  explicit Sender(const Common& common) : queue_(common.arena), recovery_(common.profile) {}
  void image(Image& image) { image(queue_, recovery_, window_, closed_, peer_, urgent_); }

  // --- the application ---
  [[nodiscard]] std::size_t write(ConstBytes bytes, const Environment& around);
  std::uint64_t writable(const Profile& profile) const;
  // Bytes that are yet to be written are urgent up to the offset `mark`. Segments carry an urgent
  // pointer until the peer has acknowledged them. At a closed window, a probe carries the first
  // mark at once.
  UrgentMarks::Added mark_urgent(std::uint64_t mark, Counters& counters);
  void close() { closed_ = true; }
  bool close_called() const { return closed_; }
  // Forgets all stored bytes, and a FIN that the peer has not acknowledged. Nothing may be sent
  // after that.
  void drop();
  // Frees memory that is needed only while something is in flight.
  void trim(const Timers& timers);
  [[nodiscard]] bool own() { return queue_.own(); }
  void disown() { queue_.disown(); }

  // --- the handshake ---
  struct Established {
    std::uint32_t segment_size = 0;  // usual payload: the peer's MSS less the usual options
    std::uint64_t window = 0;        // the peer's, bytes
    bool selective = false;          // both sides use SACK
  };
  void establish(const Established& parameters, const Profile& profile);

  // --- input ---
  void handle_acknowledgment(const Acknowledgment& acknowledgment, Environment& around,
                             Instant now);
  // Whether an ACK on data says nothing new: all sent data has arrived, and the window is
  // unchanged. It says nothing about a tail probe either: only an ACK without data does.
  bool is_known(std::uint64_t ack, std::uint64_t window, std::int64_t sequence,
                const Timers& timers) const {
    return board().outstanding() == 0 && ack == una() && peer_.is_known(ack + window, sequence) &&
           !timers.armed(Timer::kPersist);
  }
  // Such ACKs came. `sequence`: position of the last of these segments.
  void handle_known(std::int64_t sequence) {
    peer_.on_answer();
    forgive_closed_window();
    peer_.handle_known(sequence);
  }
  // An ACK that acknowledges more data, and reports nothing, while recovery().misses_nothing().
  // recovery().on_advanced() must follow the last of several such ACKs.
  void handle_advance(const Acknowledgment& acknowledgment, Environment& around, Instant now);
  // Runs those timers of its parts that are due.
  TimeoutOutcome handle_timeout(Environment& around, Instant now);
  // Segments of more than `segment_size` do not get through: sends smaller ones from now on, and
  // sends all data from `position` on again. The path is not congested.
  void handle_smaller_path(std::uint64_t position, std::uint32_t segment_size, Environment& around,
                           Instant now);

  // --- output ---
  // The next segment with at most `room` payload bytes, or up to `most` segments of exactly `room`
  // bytes of new data. They count as sent. nullopt if none may be sent now.
  std::optional<Transmission> poll(std::uint16_t room, std::size_t most, Environment& around,
                                   Instant now);
  // Whether poll() could have a segment. Cheap enough for every call.
  bool has_work() const;

  // --- the parts ---
  LossRecovery& recovery() { return recovery_; }
  const LossRecovery& recovery() const { return recovery_; }
  // It may owe probes of a closed window, which poll() does not give.
  PeerWindow& peer() { return peer_; }
  const PeerWindow& peer() const { return peer_; }

  // --- getters ---
  const ByteQueue& queue() const { return queue_; }
  std::uint64_t una() const { return board().una(); }
  std::uint64_t next() const { return board().next(); }
  std::uint64_t end() const { return queue_.end() + (closed_ ? 1 : 0); }  // FIN included
  // The first urgent mark beyond `position`; 0: none.
  std::uint64_t urgent_beyond(std::uint64_t position) const {
    return urgent_ ? urgent_->after(position) : 0;
  }
  // The peer has not acknowledged all urgent data.
  bool is_urgent() const { return urgent_ != nullptr; }
  bool fin_acknowledged() const { return closed_ && una() > queue_.end(); }
  // The peer has answered neither retransmissions nor probes of its closed window, for more than
  // 100 s.
  bool sends_in_vain() const {
    return recovery_.retries() + peer_.probes_unanswered() >= kRetriesInVain;
  }
  std::uint64_t peer_window() const { return peer_.beyond(una()); }
  std::uint64_t congestion_window() const { return window_.window(); }

 private:
  const Scoreboard& board() const { return recovery_.board(); }
  std::uint16_t room_until_mark(std::uint64_t begin, std::uint16_t room) const;
  bool pushes(std::uint64_t end) const;
  std::size_t full_segments(std::uint16_t room, std::size_t most) const;
  Transmission send_full(std::uint16_t room, std::size_t count, Environment& around, Instant now);
  std::optional<Transmission> poll_lost(std::uint16_t room, Environment& around, Instant now);
  std::optional<Transmission> poll_new(std::uint16_t room, Environment& around, Instant now);
  std::optional<Transmission> poll_tail_probe(std::uint16_t room, Environment& around, Instant now);
  Transmission retransmit(Range range, Environment& around, Instant now);
  void begin_waiting(Environment& around, Instant now);
  void release(std::uint64_t ack);
  // A peer that answers with a closed window is alive, however long the window stays closed.
  void forgive_closed_window() {
    if (peer_window() == 0) recovery_.forgive_retries();
  }

  static constexpr std::uint8_t kRetriesInVain = 9;  // 102 s with the least RTO

  ByteQueue queue_;
  LossRecovery recovery_;
  [[no_unique_address]] WindowControl window_;
  bool closed_ = false;
  PeerWindow peer_;
  std::unique_ptr<UrgentMarks> urgent_;  // while the peer must be told of any
};

}  // namespace satrelay::tcp
