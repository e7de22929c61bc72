// How frames are spread over the queues of a port, one for each worker: by the symmetric Toeplitz
// hash of addresses and ports (gateway::flow_hash()), modulo the queues.
#pragma once

#include <cstdint>

namespace satrelay::dpdk {

struct Spread {
  unsigned queues = 1;  // a power of two
};

// Key of the hash, repeated.
inline constexpr std::uint16_t kSpreadKey = 0x6d5a;

}  // namespace satrelay::dpdk
