// Segments by which the peer asks whether we are still there, or which show that another device
// also answers the peer.
#pragma once

#include "pep/base/time.h"
#include "pep/tcp/block/tcb.h"
#include "pep/tcp/segments/placement.h"
#include "pep/wire/tcp.h"

namespace satrelay::tcp {

// For a segment outside the window: whether it is a keep-alive or a probe of a closed window.
// Keep-alives are counted.
bool note_keep_alive(Tcb& tcb, const wire::TcpHeader& header, const Placement& placement);
// Leaves the question that note_keep_alive() found to the owner. Returns false if the owner does
// not want to answer questions.
bool leave_question(Tcb& tcb, const Placement& placement, Instant now);
// For a segment in the window: counts it if none of our segments can have caused it.
void note_stray_answer(Tcb& tcb, const wire::TcpHeader& header, const Placement& placement);

}  // namespace satrelay::tcp
