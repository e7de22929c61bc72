// Computes how long a flow may be silent, and when the relay must visit it again.
#pragma once

#include "config/model/schema.h"
#include "pep/base/time.h"
#include "pep/stp/session.h"
#include "relay/gateway/flows/flow.h"

namespace satrelay::gateway {

// Whether the flow only has to deliver the rest of its bytes to our host: our host has sent its
// FIN, and everything that the far host sent has arrived here or was delivered. The far host is
// done, so only this gateway would notice that our host is gone too (RFC 6429).
bool only_owes(const Flow& f, const stp::Session& session);

// Whether at least one side has closed, and the flow still needs our host: either its remaining
// bytes, or its acknowledgment of bytes that were sent to it. Our host may take any time, as over a
// bridge, but the gateway asks whether our host is still there.
bool awaits_host(const Flow& f, const stp::Session& session);

// Whether the flow is in TIME-WAIT, which ends by itself. With `close: confirmed`, TIME-WAIT does
// not end before the far host has acknowledged our host's FIN.
bool ends_by_itself(const Flow& f);

// How long the flow may be silent. After that time the flow is ended or, if awaits_host(), its host
// is asked whether it is still there.
Duration quiet_limit(const Flow& f, const stp::Session& session, const config::Limits& limits);

// Whether the flow waits for the peer: for acknowledgments, for the end of the stream, or for the
// far host's first answer.
bool owes_peer(const Flow& f, const stp::Session& session);
// When the flow will have waited too long for a silent peer, or for a live peer that reports
// nothing about its server; never if the flow does not wait.
Instant end_of_wait(const Flow& f, Duration patience);
// The time since which the host has acknowledged none of the bytes that wait for it, or the silent
// peer has acknowledged nothing; never if the flow makes progress.
Instant still_since(const Flow& f, const stp::Session& session);

// A flow that was idle for this long frees the memory that only an active flow needs.
inline constexpr Duration kTrimAfter = Duration::seconds(10);
// When the flow must be visited next. `patience` is how long the flow may wait for a silent peer.
Instant deadline(const Flow& f, const stp::Session& session, const config::Limits& limits,
                 Duration patience);

}  // namespace satrelay::gateway
