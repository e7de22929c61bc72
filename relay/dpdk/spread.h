// How frames are spread over the queues of a port, one for each worker.
#pragma once

#include <cstdint>

namespace satrelay::dpdk {

struct Spread {
  unsigned queues = 1;  // a power of two
  // UDP to this destination port and those behind it counts through the queues; 0: no such.
  std::uint16_t first_port = 0;
  unsigned ports = 0;  // so many
};

// Key of the Toeplitz hash (gateway::flow_hash()), repeated.
inline constexpr std::uint16_t kSpreadKey = 0x6d5a;

}  // namespace satrelay::dpdk
