// Divides the gateway's memory at start-up, so that the gateway can keep its promises. The credit
// that it grants to peers never exceeds the part for credit. The rest serves the hosts, and their
// windows shrink first if it runs low.
#pragma once

#include <cstdint>
#include <vector>

#include "config/model/schema.h"
#include "pep/base/units.h"
#include "relay/gateway/ids.h"
#include "relay/gateway/steering/share.h"

namespace satrelay::gateway {

// Bytes from the host, to the peer, from the peer, and to the host. Each store has a reserve of the
// arena, so that nothing that other flows do can stop it.
inline constexpr std::size_t kStoresOfAFlow = 4;
inline constexpr std::size_t kStoresOfAStream = 2;  // two of these

struct MemoryPlan {
  ByteCount arena;
  std::size_t block_size = 0;                          // of a block of the arena, bytes
  std::size_t reserve_size = 0;                        // of a reserve of the arena, bytes
  IdVector<LaneId, std::uint64_t> lane_receive_limit;  // bytes
  IdVector<LaneId, std::uint64_t> flow_receive_limit;  // of one flow, bytes
  std::uint64_t flow_send_limit = 0;                   // of one flow, bytes
  std::uint64_t host_window = 0;                       // largest window towards a host, bytes
  std::uint64_t host_windows = 0;                      // of all hosts together, bytes
};

// If `limits.memory` is 0, the arena holds four seconds of all links in both directions. It has at
// least config::kMemoryOfAFlow for each flow of the table. Half of the arena is enough for the
// reserves of all flows of the table. The other half has a few blocks for each of thousands of
// flows. A single flow that fills a lossy link needs 0.6 s of the link at the sender. At the
// receiver it needs three round trips, for bytes that arrive while a retransmission is in flight
// and until their credit is renewed. Three eighths of four seconds, times the flow's share of a
// lane, hold that.
//
// If a gateway has several workers, this is the memory of one. If `limits.memory` is set, the
// worker has its part of that, and its sessions with a peer divide the peer's credit. Otherwise a
// worker has as much for the links as the only worker would, since one of its flows may fill a
// link. Each of its sessions then has the whole credit of a peer. Only the memory that is there
// because of many flows is divided.
MemoryPlan plan_memory(const config::Gateway& config, Share share = {});

}  // namespace satrelay::gateway
