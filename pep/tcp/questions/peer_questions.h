// Keep-alives and probes of a closed window from the peer, and segments that show that another
// device also answers the peer.
#pragma once

#include "pep/base/time.h"
#include "pep/tcp/block/tcb.h"
#include "pep/tcp/segments/placement.h"
#include "pep/wire/tcp.h"

namespace satrelay::tcp {

// Returns whether a segment outside the window is a keep-alive or a probe of a closed window.
// Counts keep-alives.
bool note_keep_alive(Tcb& tcb, const wire::TcpHeader& header, const Placement& placement);
// Call if note_keep_alive() has returned true for a segment. Passes this segment to the owner,
// which answers it. Returns false if the endpoint must answer the segment itself.
bool leave_question(Tcb& tcb, const Placement& placement, Instant now);
// Counts a segment in the window if none of our segments can have caused it.
void note_stray_answer(Tcb& tcb, const wire::TcpHeader& header, const Placement& placement);

}  // namespace satrelay::tcp
