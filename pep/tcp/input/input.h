// Input of segments: header prediction, and Arrival for all segments that it does not take.
#pragma once

#include <cstddef>
#include <span>

#include "pep/base/time.h"
#include "pep/tcp/block/tcb.h"
#include "pep/tcp/types.h"

namespace satrelay::tcp {

// How many segments one call has handled, and the acceptance of each of them.
struct TakenSegments {
  std::size_t count = 0;
  Acceptance acceptance = Acceptance::kRefused;
};

// Documented in endpoint.h.
TakenSegments handle_segments(Tcb& tcb, std::span<const Segment> segments, Instant now);

}  // namespace satrelay::tcp
