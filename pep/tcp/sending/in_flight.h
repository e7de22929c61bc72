// What a sender knows of the bytes under way beyond their positions: when each segment was sent,
// the probe for their tail, and up to where its recovery goes. Nothing under way, nothing of it: an
// idle sender does without (Sender::trim()), and begins anew with the round trip that it knows.
// Marks of urgent data stay until the peer has what lies before them.
#pragma once

#include <cstdint>
#include <memory>

#include "pep/base/time.h"
#include "pep/tcp/sending/rack.h"
#include "pep/tcp/sending/tail_loss_probe.h"
#include "pep/tcp/urgent_marks.h"

namespace satrelay::tcp {

struct InFlight {
  Rack rack;
  TailLossProbe probe;
  std::uint64_t recovery_point = 0;
  std::uint64_t echo_point = 0;  // an ECE counts again beyond
  std::uint64_t timed_end = 0;   // the segment being timed ends here
  Instant timed_at = Instant::never();
  Duration persist_interval;
  std::uint32_t duplicates = 0;         // without SACK
  std::unique_ptr<UrgentMarks> urgent;  // while the peer is told of any
};

}  // namespace satrelay::tcp
