// Divides the gateway's memory, at start-up, so that what is promised can be kept: credit granted
// to peers is never more than the part that is for it; what is left serves the hosts, whose
// windows shrink first when it runs low.
#pragma once

#include <cstdint>
#include <vector>

#include "config/model/schema.h"
#include "pep/base/units.h"
#include "relay/gateway/steering/share.h"

namespace satrelay::gateway {

// From its host, to the peer, from the peer, to its host: each has a reserve of the arena's, so
// that nothing that other flows do can stop it.
inline constexpr std::size_t kStoresOfAFlow = 4;
inline constexpr std::size_t kStoresOfAStream = 2;  // of these

struct MemoryPlan {
  ByteCount arena;
  std::size_t block_size = 0;                     // of the arena, bytes
  std::size_t reserve_size = 0;                   // the same
  std::vector<std::uint64_t> lane_receive_limit;  // by session, bytes
  std::vector<std::uint64_t> flow_receive_limit;  // of one flow, by session, bytes
  std::uint64_t flow_send_limit = 0;              // of one flow, bytes
  std::uint64_t host_window = 0;                  // largest window towards a host, bytes
  std::uint64_t host_windows = 0;                 // of all hosts together, bytes
};

// With `limits.memory` 0 the arena holds four seconds of all links, both directions, and at least
// config::kMemoryOfAFlow for each flow of the table. Half of it serves all flows of the table with
// reserves; the other half has a few blocks for each of thousands. One flow that fills a lossy link
// needs 0.6 s of it at the sender; and at the receiver three round trips' worth, for what arrives
// while a retransmission is on its way and until the credit for it is renewed. Three eighths of
// four seconds, times the flow's share of a lane, hold that.
//
// Of a gateway with several workers this is the memory of one. With `limits.memory` it has its part
// of that, and its sessions with a peer divide the peer's credit. Without, it has as much for the
// links as if it were alone, since one of its flows may fill one, and the credit of each of its
// sessions is that of a peer; only what is there for the sake of many flows is divided.
MemoryPlan plan_memory(const config::Gateway& config, Share share = {});

}  // namespace satrelay::gateway
