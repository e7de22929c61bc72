// Resets: with which number and when they are sent (RFC 9293 section 3.5.2).
#pragma once

#include "pep/base/time.h"
#include "pep/tcp/block/tcb.h"
#include "pep/tcp/types.h"
#include "pep/wire/tcp.h"

namespace satrelay::tcp {

// Queues a reset of our own connection: <SEQ=SND.NXT><ACK=RCV.NXT><CTL=RST,ACK>.
void owe_reset(Tcb& tcb);
// Queues the answer to a segment with an impossible ACK (group 2): <SEQ=SEG.ACK><CTL=RST>.
void reset_unacceptable(Tcb& tcb, const wire::TcpHeader& header);
// Returns the queued reset, and removes it from the control block.
SegmentToSend take_reset(Tcb& tcb, Instant now);

}  // namespace satrelay::tcp
