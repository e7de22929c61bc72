// Divides the gateway's memory, at start-up, so that what is promised can be kept: credit granted
// to peers is never more than the blocks set aside for it; what is left serves the hosts, whose
// windows shrink first when it runs low.
#pragma once

#include <cstdint>
#include <vector>

#include "config/schema.h"
#include "pep/base/units.h"

namespace satrelay::gateway {

inline constexpr std::size_t kBlockSize = 4096;

struct MemoryPlan {
  ByteCount arena;
  std::vector<std::uint64_t> lane_receive_limit;  // by peer, bytes
  std::uint64_t flow_limit = 0;                   // per flow and direction, bytes
  std::uint64_t host_window = 0;                  // largest window towards a host, bytes
};

// With `limits.memory` 0 the arena holds two seconds of all links, both directions, and at least
// 64 MiB: a flow that fills a link needs 0.6 s of it at the sender, and about as much again at the
// receiver while a retransmission is on its way.
MemoryPlan plan_memory(const config::Gateway& config);

}  // namespace satrelay::gateway
