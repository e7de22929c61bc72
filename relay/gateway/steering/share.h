// What one worker has of a gateway. A gateway with N workers runs N engines, one on each core: each
// has its part of the flows, of the limits and of the memory, and its own sessions to each peer,
// its lanes. Nothing is shared between them, and the hash of a flow says whose it is.
#pragma once

#include <algorithm>
#include <cstdint>

#include "config/model/schema.h"

namespace satrelay::gateway {

struct Share {
  unsigned worker = 0;  // which of them, from 0
  unsigned workers = 1;
  friend bool operator==(const Share&, const Share&) = default;
};

// Lanes to a peer: as many as the gateway has workers that has more of them. Lane l belongs to
// worker l mod N of a gateway with N workers, so each worker of either has at least one.
constexpr unsigned lanes_to(const config::Peer& peer, unsigned workers) {
  return std::max(workers, peer.workers == 0 ? workers : peer.workers);
}
// Those that belong to one worker.
constexpr unsigned lanes_of_worker(const config::Peer& peer, unsigned workers) {
  return lanes_to(peer, workers) / workers;
}

// Of a number that all workers have together.
constexpr std::uint32_t part_of(std::uint32_t whole, unsigned workers) {
  return (whole + workers - 1) / workers;
}
// What is a limit of the gateway is divided between its workers; a memory that is planned from the
// links' rates is not (memory_plan.h).
inline void divide(config::Limits& limits, unsigned workers) {
  limits.flows = part_of(limits.flows, workers);
  limits.half_open = part_of(limits.half_open, workers);
  limits.time_wait = part_of(limits.time_wait, workers);
  limits.memory = ByteCount(limits.memory.value() / workers);
}

}  // namespace satrelay::gateway
