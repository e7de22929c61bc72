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

// A flow that was quiet for so long gives back what it needs only while it is not.
inline constexpr Duration kTrimAfter = Duration::seconds(10);
Instant deadline(const Flow& f, const stp::Session& session, const config::Limits& limits);

}  // namespace satrelay::gateway
