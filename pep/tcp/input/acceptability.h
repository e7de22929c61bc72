// Whether the numbers of a segment show that it comes from the peer (RFC 9293 section 3.10.7.4, RFC
// 5961).
#pragma once

#include <cstdint>

#include "pep/tcp/block/tcb.h"
#include "pep/tcp/segments/placement.h"
#include "pep/wire/tcp.h"

namespace satrelay::tcp {

// The segment lies in the window.
bool is_acceptable(const Tcb& tcb, const Placement& placement);
// A peer that has missed our ACKs may send this segment again, or ask with it whether we are there.
bool repeats_recent(const Tcb& tcb, const Placement& placement);
// RFC 5961 section 5.2.
bool has_plausible_ack(const Tcb& tcb, const wire::TcpHeader& header);
// A reset at `reset_position` has the number that our ACKs named as the next one. While
// acknowledgments are held, that number is lower than RCV.NXT. A peer that no longer knows the
// connection resets with it.
bool answers_our_ack(const Tcb& tcb, std::int64_t reset_position);

}  // namespace satrelay::tcp
