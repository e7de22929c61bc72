// Input of segments: those that header prediction takes, and all others (arrival.h).
#pragma once

#include <cstddef>
#include <span>

#include "pep/base/time.h"
#include "pep/tcp/block/tcb.h"
#include "pep/tcp/types.h"

namespace satrelay::tcp {

// The segments from the front that one call has taken, and the acceptance of each.
struct TakenSegments {
  std::size_t count = 0;
  Acceptance acceptance = Acceptance::kRefused;
};

// As in Endpoint.
TakenSegments handle_segments(Tcb& tcb, std::span<const Segment> segments, Instant now);

}  // namespace satrelay::tcp
