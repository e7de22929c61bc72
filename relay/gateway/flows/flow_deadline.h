// How long a flow may be silent, and when it is to be looked at again.
#pragma once

#include "config/model/schema.h"
#include "pep/base/time.h"
#include "pep/stp/session.h"
#include "relay/gateway/flows/flow.h"

namespace satrelay::gateway {

// Both hosts have closed, and what the far one sent is all that is left to do: it has gone, and
// nobody but this gateway would notice if the near one had gone, too (RFC 6429).
bool only_owes(const Flow& f, const stp::Session& session);

// One side has closed, or both, and something is still needed of this host: more bytes, or that it
// takes what it has been sent. It may take as long as it likes, as over a bridge, but is asked
// whether it is there.
bool awaits_host(const Flow& f, const stp::Session& session);

// It is in TIME-WAIT, which ends by itself unless the far host has yet to acknowledge the near
// one's end (`close: confirmed`).
bool ends_by_itself(const Flow& f);

// Silence after which the flow is given up, or its host asked if the flow awaits it.
Duration quiet_limit(const Flow& f, const stp::Session& session, const config::Limits& limits);

// The flow has something for the peer that the peer is not known to have, or waits for the far
// host's first word.
bool owes_peer(const Flow& f, const stp::Session& session);
// When the flow has waited for too long for a silent peer, or for a peer that is heard and says
// nothing of its server; never: it does not wait.
Instant end_of_wait(const Flow& f, Duration patience);
// Since when the host has taken nothing of what waits for it, or the peer, which is silent; never:
// nothing stands still.
Instant still_since(const Flow& f, const stp::Session& session);

// A flow that was quiet for so long gives back what it needs only while it is not.
inline constexpr Duration kTrimAfter = Duration::seconds(10);
// `patience`: with a silent peer.
Instant deadline(const Flow& f, const stp::Session& session, const config::Limits& limits,
                 Duration patience);

}  // namespace satrelay::gateway
