// The number of frames that a configured link can hold, and the memory for them.
#pragma once

#include <cstddef>

#include "config/model/link_model.h"
#include "config/model/schema.h"

namespace satrelay::satlink {

struct Sizing {
  std::size_t a_to_b_frames = 0;  // most in flight in each direction
  std::size_t b_to_a_frames = 0;
  std::size_t packets = 0;  // packets of the pool: for both directions and the ports' queues
};

// `packet_bytes`: memory of one packet buffer. If `memory` is 0, a direction holds its rate times
// its delay plus its queue in full-size frames and a quarter more, and slow links at least 16384
// frames, so that small frames find room as well.
Sizing size_for(const config::SatLink& config, std::size_t packet_bytes);

}  // namespace satrelay::satlink
