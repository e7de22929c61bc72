// Whether the numbers of a segment show that it comes from the peer (RFC 9293 section 3.10.7.4, RFC
// 5961).
#pragma once

#include <cstdint>

#include "pep/tcp/block/tcb.h"
#include "pep/tcp/segments/placement.h"
#include "pep/wire/tcp.h"

namespace satrelay::tcp {

// Whether the segment lies in the window.
bool is_acceptable(const Tcb& tcb, const Placement& placement);
// Whether the segment repeats recent data. A peer sends such a segment if it has missed our ACKs,
// or to ask whether we are still there.
bool repeats_recent(const Tcb& tcb, const Placement& placement);
// Whether the ACK lies in the range that RFC 5961 section 5.2 allows.
bool has_plausible_ack(const Tcb& tcb, const wire::TcpHeader& header);
// Whether the sequence number of a reset is the ACK number that we have sent, although we have
// received more bytes than we acknowledge. A peer that no longer knows the connection sends its
// resets with this number.
bool answers_our_ack(const Tcb& tcb, std::int64_t reset_position);

}  // namespace satrelay::tcp
