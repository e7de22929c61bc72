// The modes of a flow that are not local (config::FlowModes). For these modes the endpoint holds
// back answers until the far host has done its part, and the gateways tell each other what their
// hosts have done (CONFIRM, docs/stp.md section 14). Both ends of a flow have the same modes, and
// each applies them to its host. Keep-alives cross in the same way, whatever the modes: if a host
// asks whether the far host is still there, the far gateway asks that host.
#pragma once

#include "pep/base/time.h"
#include "pep/stp/session.h"
#include "relay/gateway/flows/flow.h"

namespace satrelay::gateway {

// Call this before the first segment of either direction.
void hold_back(Flow& f, Instant now);
// Tells the peer what our host has done, if that has changed.
void confirm(Flow& f, stp::Session& session, Instant now);
// Lets our host go on as far as the peer's host has done its part.
void follow(Flow& f, const stp::Session& session, const stp::Confirmation& far, Instant now);
// The client is in SYN-SENT: only the server's answer completes its handshake.
inline bool waits_for_server(const Flow& f) {
  return f.origin == Origin::kLan && !f.state.is_established() &&
         f.modes.handshake == config::HandshakeMode::kRemote;
}
// Whether both gateways have told each other all about this flow.
bool all_confirmed(const Flow& f, const stp::Session& session);
// The largest window to advertise. No limit if the gateway's own window counts.
std::uint64_t mirrored_window(const Flow& f);

}  // namespace satrelay::gateway
