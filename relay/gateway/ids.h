// The numbers of a gateway's parts. A number keeps its meaning as long as the gateway lives. Peers
// and links are those of the configuration, in its order, and only a start reads another list of
// them. If peers ever come and go while the gateway runs, a peer that goes takes its id with it: no
// other peer gets that id, and no id moves. A new peer gets the next id. So a table by FarGatewayId
// is an IdVector that only grows, and code may keep an id as long as it likes.
#pragma once

#include "pep/base/typed_id.h"

namespace satrelay::gateway {

// A peer: one configured far gateway (peers/far_gateway.h).
using FarGatewayId = TypedId<struct FarGatewayKind>;

// A link of the configuration, and its carrier (uplink/carrier.h).
using LinkId = TypedId<struct LinkKind>;

// A session of this worker: one lane of one peer (steering/lane_addresses.h).
using LaneId = TypedId<struct LaneKind>;

}  // namespace satrelay::gateway
