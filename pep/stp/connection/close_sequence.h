// CLOSE, which we send a few times, as each may be lost, and again to a peer that has missed all
// (docs/stp.md section 5).
#pragma once

#include <cstdint>

#include "pep/base/time.h"
#include "pep/stp/connection/probe_timer.h"

namespace satrelay::stp {

class CloseSequence {
 public:
  static constexpr int kPackets = 3;

  // `next`: the number that the next packet would have had; the peer must not take the CLOSE for an
  // old one. `tell`: whether there is a peer that should hear it.
  void begin(std::uint64_t next, bool tell) {
    said_ = true;
    has_peer_ = tell;
    number_ = next;
    left_ = tell ? kPackets : 0;
  }
  // Nothing else is sent or heard any more.
  bool said() const { return said_; }
  // A packet of the session came all the same.
  void on_heard(Instant now) {
    if (!has_peer_ || left_ > 0 || now < last_ + ProbeTimer::kProbeInterval) return;
    left_ = 1;
    repeats_ = true;
  }
  bool due() const { return left_ > 0; }
  // Whether the next one is none of the first, but for whoever still sends.
  bool repeats() const { return repeats_; }
  std::uint64_t number() const { return number_; }
  // It is being sent as packet number(), unless that is not possible.
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
