// Why a flow stands where it does, in each of its directions.
#pragma once

#include "relay/gateway/flow.h"
#include "relay/gateway/peer.h"
#include "relay/gateway/wait.h"

namespace satrelay::gateway {

Wait wait_towards_peer(const Flow& f, const Peer& peer);
Wait wait_towards_host(const Flow& f, const Peer& peer);

}  // namespace satrelay::gateway
