// The part of a gateway that one worker has. A gateway with N workers runs N engines, one on each
// core. Each engine has its part of the flows, of the limits and of the memory. It has its own
// sessions with each peer, called lanes. The workers only share knowledge about hosts
// (common_knowledge.h). The hash of a flow determines the worker that has the flow.
#pragma once

#include <algorithm>
#include <cstdint>

#include "config/model/schema.h"

namespace satrelay::gateway {

struct Share {
  unsigned worker = 0;  // number of the worker, from 0
  unsigned workers = 1;
  friend bool operator==(const Share&, const Share&) = default;
};

// The number of lanes to a peer: the number of workers of this gateway or of the peer, if that is
// larger. Lane l belongs to worker l mod N of a gateway with N workers, so each worker of either
// gateway has at least one lane.
constexpr unsigned lanes_to(const config::Peer& peer, unsigned workers) {
  return std::max(workers, peer.workers == 0 ? workers : peer.workers);
}
// The number of lanes to the peer that belong to one worker.
constexpr unsigned lanes_of_worker(const config::Peer& peer, unsigned workers) {
  return lanes_to(peer, workers) / workers;
}

// One worker's part of a number for the whole gateway, rounded up.
constexpr std::uint32_t part_of(std::uint32_t whole, unsigned workers) {
  return (whole + workers - 1) / workers;
}
// Divides the limits of the gateway among its workers. Memory that is planned from the links' rates
// is not divided here (memory_plan.h).
inline void divide(config::Limits& limits, unsigned workers) {
  limits.flows = part_of(limits.flows, workers);
  limits.half_open = part_of(limits.half_open, workers);
  limits.time_wait = part_of(limits.time_wait, workers);
  limits.memory = ByteCount(limits.memory.value() / workers);
}

}  // namespace satrelay::gateway
