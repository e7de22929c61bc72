// The ids of a gateway's parts. An id keeps its meaning as long as the gateway exists. Peers and
// links are numbered in the order of the configuration. A changed list of peers or links takes
// effect only at a restart. If peers are ever added and removed at run time, the id of a removed
// peer must not be used again, and no other id may change. A new peer gets the next id. So a table
// indexed by FarGatewayId is an IdVector that only grows, and code may keep an id as long as it
// likes.
#pragma once

#include "pep/base/typed_id.h"

namespace satrelay::gateway {

// A peer: one configured far gateway (peers/far_gateway.h).
using FarGatewayId = TypedId<struct FarGatewayKind>;

// A link of the configuration, and its carrier (uplink/carrier.h).
using LinkId = TypedId<struct LinkKind>;

// A session of this worker: one lane to one peer (steering/lane_addresses.h).
using LaneId = TypedId<struct LaneKind>;

}  // namespace satrelay::gateway
