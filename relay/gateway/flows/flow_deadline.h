// How long a flow may be silent, and when the relay must look at it again.
#pragma once

#include "config/model/schema.h"
#include "pep/base/time.h"
#include "pep/stp/session.h"
#include "relay/gateway/flows/flow.h"

namespace satrelay::gateway {

// The near host has sent its end, and all that the far host sent is here or was delivered. The flow
// only has to deliver the rest. The far host is done, so only this gateway would notice that the
// near host is gone too (RFC 6429).
bool only_owes(const Flow& f, const stp::Session& session);

// One side has closed, or both, and the flow still needs this host: its bytes, or its
// acknowledgment of what it was sent. The host may take any time, as over a bridge, but the gateway
// asks whether it is there.
bool awaits_host(const Flow& f, const stp::Session& session);

// The flow is in TIME-WAIT, which ends by itself. It does not end if the far host has yet to
// acknowledge the near host's end (`close: confirmed`).
bool ends_by_itself(const Flow& f);

// How long the flow may be silent. After that the flow is given up, or its host is asked if the
// flow awaits it.
Duration quiet_limit(const Flow& f, const stp::Session& session, const config::Limits& limits);

// The flow has something for the peer that the peer has not acknowledged, or waits for the far
// host's first answer.
bool owes_peer(const Flow& f, const stp::Session& session);
// When the flow has waited too long for a silent peer, or for a live peer that reports nothing of
// its server; never: it does not wait.
Instant end_of_wait(const Flow& f, Duration patience);
// Since when the host has taken nothing of what waits for it, or the silent peer has taken nothing;
// never: the flow makes progress.
Instant still_since(const Flow& f, const stp::Session& session);

// A flow that was quiet for this long gives back what only an active flow needs.
inline constexpr Duration kTrimAfter = Duration::seconds(10);
// `patience`: with a silent peer.
Instant deadline(const Flow& f, const stp::Session& session, const config::Limits& limits,
                 Duration patience);

}  // namespace satrelay::gateway
