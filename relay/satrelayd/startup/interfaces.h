// Checks of the kernel interfaces that the configuration names, before the gateway takes them.
#pragma once

#include "config/model/schema.h"

namespace satrelay::satrelayd {

// Throws std::runtime_error if an interface belongs to a bridge, a bond or a VRF: two programs
// would forward its frames. `has_supervisor`: the bridge of satrelay-supervise is allowed, as it is
// removed before the gateway forwards.
void object_to_masters(const config::Gateway& config, bool has_supervisor);

}  // namespace satrelay::satrelayd
