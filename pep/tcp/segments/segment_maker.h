// Makes the segments that an endpoint sends. A segment that was made counts as sent.
#pragma once

#include <cstddef>
#include <cstdint>

#include "pep/base/time.h"
#include "pep/tcp/block/tcb.h"
#include "pep/tcp/types.h"

namespace satrelay::tcp {

// Maximum number of SACK blocks that fit into a header, beside timestamps if they are in use.
inline std::size_t most_sack_blocks(const Tcb& tcb) { return tcb.negotiation.timestamps ? 3 : 4; }

// Makes a segment without payload at `position` of our stream. It acknowledges all bytes that may
// be acknowledged.
SegmentToSend make_segment(Tcb& tcb, std::uint64_t position, std::uint8_t flags, Instant now);
// Makes our SYN in SYN-SENT, or our SYN-ACK in SYN-RECEIVED.
SegmentToSend make_syn(Tcb& tcb, Instant now);

}  // namespace satrelay::tcp
