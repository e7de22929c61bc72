// How long a flow may be silent, and when it is to be looked at again.
#pragma once

#include "config/schema.h"
#include "pep/base/time.h"
#include "pep/stp/session.h"
#include "relay/gateway/flows/flow.h"

namespace satrelay::gateway {

// Both hosts have closed, and what the far one sent is all that is left to do: it has gone, and
// nobody but this gateway would notice if the near one never took it (RFC 6429).
bool only_owes(const Flow& f, const stp::Session& session);

// Silence after which the flow is given up.
Duration quiet_limit(const Flow& f, const stp::Session& session, const config::Limits& limits);

// Of the peer: since when it has taken nothing (never: it is there), and for how long a flow waits.
struct PeerSilence {
  Instant since;
  Duration patience;
};
// The flow has something for the peer that the peer is not known to have, or waits for the far
// host's first word.
bool owes_peer(const Flow& f, const stp::Session& session);
// Since when a host or the peer has taken nothing of what waits for it; never: nothing stands
// still.
Instant still_since(const Flow& f, const stp::Session& session);
// When the flow has waited for a silent peer for too long; never: it does not wait. It waits from
// the outage's beginning on, or from when its host had something new to say.
Instant end_of_wait(const Flow& f, const stp::Session& session, const PeerSilence& silence);

// A flow that was quiet for so long gives back what it needs only while it is not.
inline constexpr Duration kTrimAfter = Duration::seconds(10);
Instant deadline(const Flow& f, const stp::Session& session, const config::Limits& limits,
                 const PeerSilence& silence);

}  // namespace satrelay::gateway
