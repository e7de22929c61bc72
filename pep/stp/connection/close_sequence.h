// CLOSE (docs/stp.md section 5). It is sent a few times, since each packet may be lost. It is sent
// again if the peer still sends, since the peer has then missed them all.
#pragma once

#include <cstdint>

#include "pep/base/time.h"
#include "pep/stp/path/probe_timer.h"

namespace satrelay::stp {

class CloseSequence {
 public:
  static constexpr int kPackets = 3;

  // `next`: the number of the next packet. CLOSE takes it, so that the peer does not take CLOSE for
  // an old packet. `tell`: whether there is a peer to send CLOSE to.
  void begin(std::uint64_t next, bool tell) {
    said_ = true;
    has_peer_ = tell;
    number_ = next;
    left_ = tell ? kPackets : 0;
  }
  // The session is closed: it sends only CLOSE, and handles no other packet.
  bool said() const { return said_; }
  // The peer has sent a packet of the session although the session is closed.
  void on_heard(Instant now) {
    if (!has_peer_ || left_ > 0 || now < last_ + ProbeTimer::kProbeInterval) return;
    left_ = 1;
    repeats_ = true;
  }
  bool due() const { return left_ > 0; }
  // Whether the next CLOSE is a repeated one, to a peer that still sends.
  bool repeats() const { return repeats_; }
  std::uint64_t number() const { return number_; }
  // CLOSE may leave now, as packet number(). It does not leave if its key is worn out.
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
