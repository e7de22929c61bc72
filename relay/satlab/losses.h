// Adds up the frames that a link loses for any reason. All reports and plots show this sum.
#pragma once

#include <cstdint>

#include "relay/link/direction_counters.h"

namespace satrelay::satlab {

// Returns the number of frames that were offered to the link but will never be delivered.
constexpr std::uint64_t lost_frames(const link::DirectionCounters& c) {
  return c.dropped_queue + c.dropped_mtu + c.dropped_loss + c.dropped_outage + c.dropped_memory;
}

}  // namespace satrelay::satlab
