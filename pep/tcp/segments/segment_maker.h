// Headers of the segments that an endpoint sends. A segment that is made counts as sent.
#pragma once

#include <cstddef>
#include <cstdint>

#include "pep/base/time.h"
#include "pep/tcp/block/tcb.h"
#include "pep/tcp/types.h"

namespace satrelay::tcp {

// The SACK blocks that a header has room for, beside timestamps.
inline std::size_t most_sack_blocks(const Tcb& tcb) { return tcb.negotiation.timestamps ? 3 : 4; }

// A segment at the position `position` of our stream, without payload. It acknowledges all that may
// be acknowledged.
SegmentToSend make_segment(Tcb& tcb, std::uint64_t position, std::uint8_t flags, Instant now);
// Our SYN in SYN-SENT, our SYN-ACK in SYN-RECEIVED.
SegmentToSend make_syn(Tcb& tcb, Instant now);

}  // namespace satrelay::tcp
