// Divides the gateway's memory at start-up, so that there is always memory for the bytes that peers
// send within the credit that they were granted. The other part of the memory is for the hosts. If
// it runs low, the windows of hosts shrink first.
#pragma once

#include <cstdint>
#include <vector>

#include "config/model/schema.h"
#include "pep/base/units.h"
#include "relay/gateway/ids.h"
#include "relay/gateway/steering/share.h"

namespace satrelay::gateway {

// A flow has four stores: for bytes from the host, to the peer, from the peer, and to the host.
// Each store has a reserve of the arena, so that no other flow can stop it from making progress.
inline constexpr std::size_t kStoresOfAFlow = 4;
inline constexpr std::size_t kStoresOfAStream = 2;  // to the peer and from the peer

struct MemoryPlan {
  ByteCount arena;
  std::size_t block_size = 0;                          // size of a block of the arena
  std::size_t reserve_size = 0;                        // size of a reserve of the arena
  IdVector<LaneId, std::uint64_t> lane_receive_limit;  // credit for all flows of a lane, in bytes
  IdVector<LaneId, std::uint64_t> flow_receive_limit;  // credit for one flow of a lane, in bytes
  std::uint64_t flow_send_limit = 0;  // maximum number of bytes that one flow stores for its peer
  std::uint64_t host_window = 0;      // largest window towards a host, in bytes
  std::uint64_t host_windows = 0;     // the windows of all hosts together, in bytes
};

// If `limits.memory` is 0, the arena holds the bytes of four seconds of all links in both
// directions, and at least config::kMemoryOfAFlow for each flow of the table. Half of the arena is
// enough for the reserves of all flows of the table. The other half has a few blocks for each of
// thousands of flows.
//
// A single flow that fills a lossy link needs memory at both ends. The sender stores the bytes that
// the link sends in 0.6 s. The receiver stores the bytes of three round trips: they arrive while a
// retransmission is in flight, and until their credit is renewed. The credit of all peers is three
// eighths of the arena, and a flow may use three quarters of the credit of its lane. That is enough
// for both ends.
//
// If a gateway has several workers, this is the memory of one worker. If `limits.memory` is set,
// the worker has its part of that memory, and its sessions with a peer divide the peer's credit.
// Otherwise a worker has as much memory for the links as the only worker of a gateway would have,
// since one of its flows may fill a link. Each of its sessions then has the whole credit of a peer.
// Only memory that exists because of many flows is divided.
MemoryPlan plan_memory(const config::Gateway& config, Share share = {});

}  // namespace satrelay::gateway
