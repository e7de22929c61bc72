// The modes of a flow other than local ones (config::FlowModes): what its endpoint holds back until
// the far host has done its part, and what the gateways tell each other for that (CONFIRM,
// docs/stp.md section 14). Both sides of a flow have the same modes, and each does this for its
// host. Keep-alives cross the same way, whatever the modes: a host that asks whether the far one is
// still there makes the far gateway ask it.
#pragma once

#include "pep/base/time.h"
#include "pep/stp/session.h"
#include "relay/gateway/flows/flow.h"

namespace satrelay::gateway {

// Before the first segment of either direction.
void hold_back(Flow& f, Instant now);
// Tells the peer how far our host is, where that has changed.
void confirm(Flow& f, stp::Session& session, Instant now);
// What the peer's host has done lets ours go on.
void follow(Flow& f, const stp::Session& session, const stp::Confirmation& far, Instant now);
// Whether the peers owe each other nothing more about this flow.
bool all_confirmed(const Flow& f, const stp::Session& session);
// The largest window to advertise; no limit where the gateway's own counts.
std::uint64_t mirrored_window(const Flow& f);

}  // namespace satrelay::gateway
