// The receive window that the peer advertises (RFC 9293 section 3.8.6), and the persist timer. That
// timer probes a closed window (section 3.8.6.1). It also ends the wait if the window stays too
// small for a worthwhile segment (section 3.8.6.2.1). Timer: kPersist.
//
// Positions are stream positions; windows are in bytes.
#pragma once

#include <cstdint>
#include <utility>

#include "pep/base/image/image.h"
#include "pep/tcp/environment.h"
#include "pep/tcp/sending/acknowledgment.h"

namespace satrelay::tcp {

class PeerWindow {
 public:
  void image(Image& image) {
    image(edge_, sequence_, persist_interval_, largest_, probes_unanswered_, override_, probe_owed_,
          urgent_probe_owed_);
  }
  // `window` is the window of the segment that completes the handshake.
  void establish(std::uint64_t window);

  // The first position beyond the window.
  std::uint64_t edge() const { return edge_; }
  std::uint64_t beyond(std::uint64_t position) const {
    return edge_ > position ? edge_ - position : 0;
  }
  std::uint64_t largest() const { return largest_; }
  // Silly window avoidance: whether a segment with `size` bytes is worthwhile, even if it is not
  // full and more data waits.
  bool makes_worthwhile(std::uint64_t size) const;

  // --- input ---
  // Uses the window of an ACK, unless the ACK is older than the last one. `outstanding` is
  // [SND.UNA, SND.NXT) before the ACK. Returns whether the edge moves.
  bool take(const Acknowledgment& acknowledgment, Range outstanding, Duration rto,
            Environment& around, Instant now);
  // Whether the window of an ACK is unchanged and the ACK is not old. `sequence` is the position of
  // the segment that carries the ACK.
  bool is_known(std::uint64_t edge, std::int64_t sequence) const {
    return edge == edge_ && sequence >= sequence_;
  }
  void handle_known(std::int64_t sequence) { sequence_ = sequence; }
  // To be called for each ACK of the peer.
  void on_answer() { probes_unanswered_ = 0; }

  // --- the persist timer ---
  // Starts the persist timer. Data waits while nothing is in flight, so only the peer's window can
  // block it.
  void wait_for_room(Duration rto, Environment& around, Instant now);
  void on_sent(Environment& around);
  // `next` is the first position that was not sent. `urgent` is true if the peer must learn of
  // urgent data.
  TimeoutOutcome handle_timeout(std::uint64_t next, bool urgent, Environment& around, Instant now);
  std::uint8_t probes_unanswered() const { return probes_unanswered_; }

  // Probes of a closed window. The usual probe is an empty segment with the sequence number before
  // SND.UNA. The urgent probe is an empty segment with the sequence number SND.UNA, and is sent
  // before the usual probe. In any other empty segment, a peer with a closed window ignores the
  // urgent pointer.
  bool owes_probe() const { return probe_owed_ || urgent_probe_owed_; }
  bool take_probe() { return std::exchange(probe_owed_, false); }
  void owe_urgent_probe() { urgent_probe_owed_ = true; }
  bool take_urgent_probe() { return std::exchange(urgent_probe_owed_, false); }

 private:
  std::uint64_t edge_ = 0;
  std::int64_t sequence_ = -1;  // SND.WL1
  Duration persist_interval_;
  std::uint32_t largest_ = 0;  // largest window that the peer ever offered; at most 1 GiB
  std::uint8_t probes_unanswered_ = 0;
  bool override_ = false;  // override of silly window avoidance: send what fits into the window
  bool probe_owed_ = false;
  bool urgent_probe_owed_ = false;
};

}  // namespace satrelay::tcp
