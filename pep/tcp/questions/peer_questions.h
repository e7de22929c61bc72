// Segments by which the peer asks whether we are still there, or shows that another device answers
// it.
#pragma once

#include "pep/base/time.h"
#include "pep/tcp/block/tcb.h"
#include "pep/tcp/segments/placement.h"
#include "pep/wire/tcp.h"

namespace satrelay::tcp {

// For a segment outside the window: whether it is a keep-alive or a probe of a closed window.
// Counts the keep-alives.
bool note_keep_alive(Tcb& tcb, const wire::TcpHeader& header, const Placement& placement);
// Leaves the question of that segment to the owner. False if the owner answers no questions.
bool leave_question(Tcb& tcb, const Placement& placement, Instant now);
// For a segment in the window: counts it if nothing of ours can have caused it.
void note_stray_answer(Tcb& tcb, const wire::TcpHeader& header, const Placement& placement);

}  // namespace satrelay::tcp
