// Describes one flow for the stats socket, from its TCP half and its STP half.
#pragma once

#include "pep/base/time.h"
#include "relay/gateway/flows/flow.h"
#include "relay/gateway/peers/lane.h"
#include "relay/gateway/snapshot.h"

namespace satrelay::gateway {

FlowSnapshot describe(const Flow& f, const Lane& lane, Instant now);

}  // namespace satrelay::gateway
