// Computes how long a flow may be silent, and when the relay must visit it again.
#pragma once

#include "config/model/schema.h"
#include "pep/base/time.h"
#include "pep/stp/session.h"
#include "relay/gateway/flows/flow.h"

namespace satrelay::gateway {

// Whether the flow only has to deliver bytes to our host. Our host has sent its FIN, and the stream
// of the far host has ended. The far host has nothing left to send, so if our host has crashed,
// only this gateway can notice that (RFC 6429).
bool only_owes(const Flow& f, const stp::Session& session);

// Whether at least one direction has ended, and the flow still waits for our host: for its
// remaining bytes, or for its acknowledgments. There is no limit for this wait, as over a bridge.
// But the gateway sends keep-alives to find out whether our host is still there.
bool awaits_host(const Flow& f, const stp::Session& session);

// Whether the flow is in TIME-WAIT, which ends by itself. With `close: confirmed`, TIME-WAIT does
// not end before the far host has acknowledged our host's FIN.
bool ends_by_itself(const Flow& f);

// How long the flow may be silent. After that time the flow is ended. If awaits_host(), the gateway
// sends our host a keep-alive instead.
Duration quiet_limit(const Flow& f, const stp::Session& session, const config::Limits& limits);

// Whether the flow waits for the peer: for acknowledgments, for the end of the stream, or for the
// far host's first answer.
bool owes_peer(const Flow& f, const stp::Session& session);
// Time limit of the flow's wait for the peer. The flow waits if the peer is silent, or if it is
// alive and reports nothing about the flow's server. Never if the flow does not wait.
Instant end_of_wait(const Flow& f, Duration patience);
// When the flow stopped making progress: since then the host has acknowledged none of the bytes
// that wait for it, or the silent peer has acknowledged nothing. Never if the flow makes progress.
Instant still_since(const Flow& f, const stp::Session& session);

// A flow that was idle for this long frees the memory that only an active flow needs.
inline constexpr Duration kTrimAfter = Duration::seconds(10);
// When the flow must be visited next. `patience` is how long the flow may wait for a silent peer.
Instant deadline(const Flow& f, const stp::Session& session, const config::Limits& limits,
                 Duration patience);

}  // namespace satrelay::gateway
