// The class in which a frame waits in a modem that drops by priority (TP-S section 2.4).
#pragma once

#include <cstdint>

#include "pep/base/bytes.h"

namespace satrelay::link {

// Of the outer IP header's DSCP, as the gateways set it: 0 high, 1 low, 2 start/high, 3 start/low.
// All that is not IP, or bears another code point, is high.
std::uint8_t priority_of(ConstBytes frame);

}  // namespace satrelay::link
