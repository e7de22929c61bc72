// Finds the class in which a frame waits, in a modem that drops by priority (TP-S section 2.4).
#pragma once

#include <cstdint>

#include "pep/base/bytes.h"

namespace satrelay::link {

// Returns the class for the DSCP that the gateways have set in the outer IP header: 0 high, 1 low,
// 2 start/high, 3 start/low. A frame that is not IP, or has another DSCP, is in class 0.
std::uint8_t priority_of(ConstBytes frame);

}  // namespace satrelay::link
