// The numbers of a gateway's parts. A number keeps its meaning as long as the gateway lives: peers
// and links are those of the configuration, in its order, and only a start reads another list of
// them.
#pragma once

#include "pep/base/typed_id.h"

namespace satrelay::gateway {

// A session of this worker: one lane of one peer (steering/lane_addresses.h).
using LaneId = TypedId<struct LaneKind>;

}  // namespace satrelay::gateway
