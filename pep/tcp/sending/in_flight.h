// The sender's state about bytes in flight, beyond their positions: when each segment was sent, the
// tail loss probe, and where recovery ends. An idle sender frees it (Sender::trim()), and later
// begins anew with the RTT that it knows. Marks of urgent data stay until the peer has acknowledged
// all bytes before them.
#pragma once

#include <cstdint>
#include <memory>

#include "pep/base/image/image.h"
#include "pep/base/time.h"
#include "pep/tcp/sending/rack.h"
#include "pep/tcp/sending/tail_loss_probe.h"
#include "pep/tcp/urgent_marks.h"

namespace satrelay::tcp {

struct InFlight {
  Rack rack;
  TailLossProbe probe;
  std::uint64_t recovery_point = 0;
  std::uint64_t echo_point = 0;  // an ECE counts again beyond it
  std::uint64_t timed_end = 0;   // the segment being timed ends here
  Instant timed_at = Instant::never();
  Duration persist_interval;
  std::uint32_t duplicates = 0;         // duplicate ACKs, without SACK
  std::unique_ptr<UrgentMarks> urgent;  // while the peer must be told of any

  void image(Image& image) {
    image(rack, probe, recovery_point, echo_point, timed_end, timed_at, persist_interval,
          duplicates, urgent);
  }
};

}  // namespace satrelay::tcp
