// The number of frames that a configured link can hold, and the memory for them.
#pragma once

#include <cstddef>

#include "config/model/link_model.h"
#include "config/model/schema.h"

namespace satrelay::satlink {

struct Sizing {
  std::size_t a_to_b_frames = 0;  // largest number of frames in flight, by direction
  std::size_t b_to_a_frames = 0;
  std::size_t packets = 0;  // packets of the pool: for both directions and the ports' queues
};

// `packet_bytes`: memory of one packet buffer. If the configured `memory` is 0, a direction has
// room for its rate times its delay plus its queue, in full-size frames, and for a quarter more. A
// slow link also has room for that many bytes in frames of the smallest size, but for no more than
// 16384 of them.
Sizing size_for(const config::SatLink& config, std::size_t packet_bytes);

}  // namespace satrelay::satlink
