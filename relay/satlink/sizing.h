// The number of frames that a configured link can hold, and the memory for them.
#pragma once

#include <cstddef>

#include "config/model/link_model.h"
#include "config/model/schema.h"

namespace satrelay::satlink {

struct Sizing {
  // Largest number of frames in flight from a to b, and below from b to a.
  std::size_t a_to_b_frames = 0;
  std::size_t b_to_a_frames = 0;
  std::size_t packets = 0;  // packets of the pool, for both directions and for the ports' queues
};

// `packet_bytes` is the memory of one packet buffer. If the configured `memory` is 0, each
// direction gets room for its rate times its delay plus its queue, in full-size frames, and a
// quarter more. On a slow link, more frames of the smallest size may be in flight. So such a link
// gets room for this number of frames, up to 16384.
Sizing size_for(const config::SatLink& config, std::size_t packet_bytes);

}  // namespace satrelay::satlink
