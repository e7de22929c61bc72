// Output of segments: which segment is sent next, if any.
#pragma once

#include <cstddef>
#include <optional>

#include "pep/base/time.h"
#include "pep/tcp/block/tcb.h"
#include "pep/tcp/types.h"

namespace satrelay::tcp {

// Documented in endpoint.h.
std::optional<SegmentToSend> poll_segments(Tcb& tcb, std::size_t most, Instant now);
bool may_have_segment(Tcb& tcb);

}  // namespace satrelay::tcp
