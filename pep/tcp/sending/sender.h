// The sending half of an endpoint. It stores bytes, and decides which segment is sent next.
//
//   ACK  ------> LossRecovery   which data is lost and retransmitted --+
//   timers           | signals of congestion                           |
//                    v                                                 v
//                WindowControl  how much the network may carry ----> poll()
//   ACK  ------> PeerWindow     how much the peer accepts -------------^
//
// The parts do not know each other: the sender passes the results of one part to the others. Each
// call gets the endpoint's Environment as an argument, so no part keeps a reference to it.
//
// Nagle's algorithm is absent on purpose: a relay must not delay bytes that an application has
// sent.
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

// One or more data segments to build. The first has the positions [begin, begin + size), then the
// FIN if `fin` is set.
struct Transmission {
  std::uint64_t begin = 0;
  std::uint16_t size = 0;
  // Number of segments; each has `size` bytes, and begins where the previous one ends.
  std::size_t count = 1;
  bool fin = false;
  bool push = false;
  bool fresh = false;    // sent for the first time
  bool reduced = false;  // the first new data since the congestion window was reduced (CWR)
};

class Sender {
 public:
  explicit Sender(const Common& common) : queue_(common.arena), recovery_(common.profile) {}
  void image(Image& image) {
    image(queue_, recovery_, window_, closed_, peer_, urgent_);
    if (image.reads() && !queue_.covers({queue_.begin(), queue_.end()})) image.fail();
  }

  // --- the application ---
  [[nodiscard]] std::size_t write(ConstBytes bytes, const Environment& around);
  std::uint64_t writable(const Profile& profile) const;
  // Marks as urgent the bytes that write() stores from now on, up to the offset `mark`. Segments
  // carry an urgent pointer until the peer has acknowledged these bytes. If the peer's window is
  // closed, a probe carries the first mark at once.
  UrgentMarks::Added mark_urgent(std::uint64_t mark, Counters& counters);
  void close() { closed_ = true; }
  bool close_called() const { return closed_; }
  // Drops all stored bytes, and a FIN that the peer has not acknowledged. Nothing may be sent
  // afterwards.
  void drop();
  // Frees memory that is needed only while data is in flight.
  void trim(const Timers& timers);
  [[nodiscard]] bool own() { return queue_.own(); }
  void disown() { queue_.disown(); }

  // --- the handshake ---
  struct Established {
    // Usual payload: the peer's MSS less the usual options, in bytes.
    std::uint32_t segment_size = 0;
    std::uint64_t window = 0;  // the peer's window in bytes
    bool selective = false;    // both sides use SACK
  };
  void establish(const Established& parameters, const Profile& profile);

  // --- input ---
  void handle_acknowledgment(const Acknowledgment& acknowledgment, Environment& around,
                             Instant now);
  // Whether the ACK in a data segment changes nothing: all sent data is already acknowledged, and
  // the window is the same. Such an ACK cannot answer a tail loss probe, because the answer to a
  // probe is an ACK without data.
  bool is_known(std::uint64_t ack, std::uint64_t window, std::int64_t sequence,
                const Timers& timers) const {
    return board().outstanding() == 0 && ack == una() && peer_.is_known(ack + window, sequence) &&
           !timers.armed(Timer::kPersist);
  }
  // Handles data segments for which is_known() held. `sequence` is the position of the last of
  // them.
  void handle_known(std::int64_t sequence) {
    peer_.on_answer();
    forgive_closed_window();
    peer_.handle_known(sequence);
  }
  // Handles an ACK that acknowledges more data without SACK blocks, while
  // recovery().misses_nothing(). Call recovery().on_advanced() after the last of several such ACKs.
  void handle_advance(const Acknowledgment& acknowledgment, Environment& around, Instant now);
  // Runs the timers of the sender's parts that are due.
  TimeoutOutcome handle_timeout(Environment& around, Instant now);
  // The path does not carry segments of more than `segment_size` bytes. The sender uses smaller
  // segments from now on, and retransmits all data from `position` on. The path is not congested.
  void handle_smaller_path(std::uint64_t position, std::uint32_t segment_size, Environment& around,
                           Instant now);

  // --- output ---
  // The next segment with at most `room` payload bytes, or up to `most` segments of new data with
  // exactly `room` bytes each. They count as sent. nullopt if no segment may be sent now.
  std::optional<Transmission> poll(std::uint16_t room, std::size_t most, Environment& around,
                                   Instant now);
  // False only if poll() would return nullopt. Cheap enough to be called before every poll().
  bool has_work() const;

  // --- the parts ---
  LossRecovery& recovery() { return recovery_; }
  const LossRecovery& recovery() const { return recovery_; }
  // The peer's window. poll() does not return the probes of a closed window that this part owes, so
  // the caller must send them.
  PeerWindow& peer() { return peer_; }
  const PeerWindow& peer() const { return peer_; }

  // --- getters ---
  const ByteQueue& queue() const { return queue_; }
  std::uint64_t una() const { return board().una(); }
  std::uint64_t next() const { return board().next(); }
  // The end of the stored bytes, or of the FIN if close() was called.
  std::uint64_t end() const { return queue_.end() + (closed_ ? 1 : 0); }
  // The first urgent mark beyond `position`; 0 if there is none.
  std::uint64_t urgent_beyond(std::uint64_t position) const {
    return urgent_ ? urgent_->after(position) : 0;
  }
  // Whether the peer still has to acknowledge urgent data.
  bool is_urgent() const { return urgent_ != nullptr; }
  bool fin_acknowledged() const { return closed_ && una() > queue_.end(); }
  // Whether the peer has acknowledged none of the retransmitted bytes, or has answered no probe of
  // its closed window, for more than 100 s.
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
  // A peer that answers while its window is closed is alive, however long the window stays closed.
  void forgive_closed_window() {
    if (peer_window() == 0) recovery_.forgive_retries();
  }

  static constexpr std::uint8_t kRetriesInVain = 9;  // 102 s with the smallest RTO

  ByteQueue queue_;
  LossRecovery recovery_;
  [[no_unique_address]] WindowControl window_;
  bool closed_ = false;
  PeerWindow peer_;
  std::unique_ptr<UrgentMarks> urgent_;  // nullptr if the peer has acknowledged all urgent data
};

}  // namespace satrelay::tcp
