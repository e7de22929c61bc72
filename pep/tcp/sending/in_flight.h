// The part of loss recovery that is needed only while bytes are in flight: when each segment was
// sent, the tail loss probe, and where recovery ends. An idle sender frees this part
// (LossRecovery::trim()). When it sends again, it starts with the RTT that it still knows.
#pragma once

#include <cstdint>

#include "pep/base/image/image.h"
#include "pep/base/time.h"
#include "pep/tcp/sending/rack.h"
#include "pep/tcp/sending/tail_loss_probe.h"

namespace satrelay::tcp {

struct InFlight {
  Rack rack;
  TailLossProbe probe;
  std::uint64_t recovery_point = 0;
  std::uint64_t echo_point = 0;  // an ECN echo counts only in an ACK beyond this position
  std::uint64_t timed_end = 0;   // end of the segment with which the RTT is measured
  Instant timed_at = Instant::never();
  std::uint32_t duplicates = 0;  // number of duplicate ACKs; counted only without SACK

  void image(Image& image) {
    image(rack, probe, recovery_point, echo_point, timed_end, timed_at, duplicates);
  }
};

}  // namespace satrelay::tcp
