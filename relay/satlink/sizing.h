// The number of frames that a configured link can hold, and the memory for them.
#pragma once

#include <cstddef>

#include "config/model/link_model.h"
#include "config/model/schema.h"

namespace satrelay::satlink {

struct Sizing {
  // Maximum number of frames in flight in each direction.
  std::size_t a_to_b_frames = 0;
  std::size_t b_to_a_frames = 0;
  std::size_t packets = 0;  // packets of the pool, for both directions and for the ports' queues
};

// `packet_bytes` is the memory of one packet buffer. If the configured `memory` is 0, each
// direction gets room for its rate times its delay plus its queue, in full-size frames, and a
// quarter more. The same data in frames of the smallest size needs room for more frames. A
// direction gets this room as well, but only up to 16384 frames.
Sizing size_for(const config::SatLink& config, std::size_t packet_bytes);

}  // namespace satrelay::satlink
