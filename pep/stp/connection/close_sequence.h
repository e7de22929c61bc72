// The sending of CLOSE (docs/stp.md section 5). CLOSE is sent a few times, as each packet may be
// lost. If the peer continues to send, it has received no CLOSE, so CLOSE is sent again.
#pragma once

#include <cstdint>

#include "pep/base/time.h"
#include "pep/stp/path/probe_timer.h"

namespace satrelay::stp {

class CloseSequence {
 public:
  static constexpr int kPackets = 3;

  // Begins to send CLOSE. `next` is the number of the next packet. CLOSE uses this number, so that
  // the peer does not consider CLOSE an old packet. `tell` says whether there is a peer that must
  // get CLOSE.
  void begin(std::uint64_t next, bool tell) {
    said_ = true;
    has_peer_ = tell;
    number_ = next;
    left_ = tell ? kPackets : 0;
  }
  // Whether the session is closed. A closed session sends only CLOSE, and applies no received
  // packet.
  bool said() const { return said_; }
  // The peer has sent a packet of the closed session.
  void on_heard(Instant now) {
    if (!has_peer_ || left_ > 0 || now < last_ + ProbeTimer::kProbeInterval) return;
    left_ = 1;
    repeats_ = true;
  }
  bool due() const { return left_ > 0; }
  // Whether the next CLOSE is a repetition for a peer that still sends.
  bool repeats() const { return repeats_; }
  std::uint64_t number() const { return number_; }
  // Call on_turn() when it is time to send CLOSE as packet number(). Then call on_sent(), unless
  // CLOSE could not be sent because the key has protected too many packets.
  void on_turn(Instant now) {
    --left_;
    last_ = now;
  }
  void on_sent() { ++number_; }

 private:
  bool said_ = false;
  bool has_peer_ = false;
  bool repeats_ = false;
  int left_ = 0;
  std::uint64_t number_ = 0;
  Instant last_;
};

}  // namespace satrelay::stp
