// Tells why a flow waits, for each of its directions.
#pragma once

#include "relay/gateway/flows/flow.h"
#include "relay/gateway/flows/wait.h"
#include "relay/gateway/peers/lane.h"

namespace satrelay::gateway {

Wait wait_towards_peer(const Flow& f, const Lane& lane);
Wait wait_towards_host(const Flow& f, const Lane& lane);

}  // namespace satrelay::gateway
