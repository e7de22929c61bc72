// The modes of a flow that are not local (config::FlowModes). In these modes the endpoint holds
// back answers until the far host has answered. The gateways report their hosts' answers to each
// other (CONFIRM, docs/stp.md section 14). Both ends of a flow have the same modes, and each end
// applies them to its own host. In all modes keep-alives cross the link: if a host sends a
// keep-alive, the far gateway probes the far host.
#pragma once

#include "pep/base/time.h"
#include "pep/stp/session.h"
#include "relay/gateway/flows/flow.h"

namespace satrelay::gateway {

// Makes the endpoint hold back answers as the modes demand. Call this before the first segment of
// either direction.
void hold_back(Flow& f, Instant now);
// Reports our host's answers to the peer in a CONFIRM, if they have changed.
void confirm(Flow& f, stp::Session& session, Instant now);
// `far` reports the answers of the far host. Lets the endpoint give our host the same answers.
void follow(Flow& f, const stp::Session& session, const stp::Confirmation& far, Instant now);
// The client is in SYN-SENT: its handshake is completed only when the server has answered.
inline bool waits_for_server(const Flow& f) {
  return f.origin == Origin::kLan && !f.state.is_established() &&
         f.modes.handshake == config::HandshakeMode::kRemote;
}
// Whether each gateway has reported everything about this flow to the other gateway.
bool all_confirmed(const Flow& f, const stp::Session& session);
// Returns the largest window that may be advertised to our host. There is no limit if the gateway
// advertises a window of its own (WindowMode::kRewrite).
std::uint64_t mirrored_window(const Flow& f);

}  // namespace satrelay::gateway
