// Our keep-alive probes to the peer (block/keep_alive.h).
#pragma once

#include "pep/base/time.h"
#include "pep/tcp/block/tcb.h"

namespace satrelay::tcp {

// Documented in endpoint.h.
void send_keep_alive(Tcb& tcb, Instant now);
bool ask_once(Tcb& tcb);
// Call when Timer::kKeepAlive has expired.
void handle_keep_alive_timeout(Tcb& tcb, Instant now);

}  // namespace satrelay::tcp
