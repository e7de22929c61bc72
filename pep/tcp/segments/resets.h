// Resets: with which number, and when one leaves (RFC 9293 section 3.5.2).
#pragma once

#include "pep/base/time.h"
#include "pep/tcp/block/tcb.h"
#include "pep/tcp/types.h"
#include "pep/wire/tcp.h"

namespace satrelay::tcp {

// Owes a reset of our own connection: <SEQ=SND.NXT><ACK=RCV.NXT><CTL=RST,ACK>.
void owe_reset(Tcb& tcb);
// Owes the answer to a segment whose ACK cannot be right (group 2): <SEQ=SEG.ACK><CTL=RST>.
void reset_unacceptable(Tcb& tcb, const wire::TcpHeader& header);
// The reset that is owed. It leaves once.
SegmentToSend take_reset(Tcb& tcb, Instant now);

}  // namespace satrelay::tcp
