// The frames that a link loses, for whatever reason: the one sum that reports and plots show.
#pragma once

#include <cstdint>

#include "relay/link/direction_counters.h"

namespace satrelay::satlab {

// Frames that were offered to the link and do not come out.
constexpr std::uint64_t lost_frames(const link::DirectionCounters& c) {
  return c.dropped_queue + c.dropped_mtu + c.dropped_loss + c.dropped_outage + c.dropped_memory;
}

}  // namespace satrelay::satlab
