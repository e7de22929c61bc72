// The end of a connection: the FIN of each side, TIME-WAIT, and events that close the connection at
// once.
#pragma once

#include <cstdint>
#include <optional>

#include "pep/base/time.h"
#include "pep/tcp/block/tcb.h"
#include "pep/tcp/time_wait.h"
#include "pep/tcp/types.h"

namespace satrelay::tcp {

// --- calls of the application, documented in endpoint.h ---
void close(Tcb& tcb);
void abort(Tcb& tcb);
void abandon(Tcb& tcb);
void hold_acknowledgments(Tcb& tcb, std::uint64_t from, Instant now);
void release_fin(Tcb& tcb, Instant now);

// --- events ---
// Closes the connection for `reason`. Received bytes stay readable: they were acknowledged, and the
// owner decides what happens to them.
void fail(Tcb& tcb, CloseReason reason);
// Resets the connection, as the peer has not answered for too long.
void give_up(Tcb& tcb);
void on_own_fin_acknowledged(Tcb& tcb, Instant now);
// Call when every byte before the peer's FIN has arrived.
void on_peer_fin(Tcb& tcb, Instant now);
// Call when an accepted segment has arrived in FIN-WAIT-2.
void arm_half_closed(Tcb& tcb, Instant now);
// Call when Timer::kClose has expired.
void handle_close_timeout(Tcb& tcb, Instant now);

// --- TIME-WAIT ---
// Returns the sequence numbers and other numbers that TIME-WAIT needs.
TimeWait numbers(const Tcb& tcb);
// Documented in endpoint.h.
std::optional<TimeWait> time_wait(const Tcb& tcb);

}  // namespace satrelay::tcp
