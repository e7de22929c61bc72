// Spreads frames over the queues of a port, one queue for each worker. The number of the queue is
// the symmetric Toeplitz hash of addresses and ports (gateway::flow_hash()), modulo the number of
// queues.
#pragma once

#include <cstdint>

namespace satrelay::dpdk {

struct Spread {
  unsigned queues = 1;  // number of queues, a power of two
};

// The key of the hash repeats these 16 bits.
inline constexpr std::uint16_t kSpreadKey = 0x6d5a;

}  // namespace satrelay::dpdk
