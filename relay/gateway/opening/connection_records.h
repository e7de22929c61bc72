// Records of connections that a gateway does not relay, or no longer relays. They are kept for a
// while, so that later segments of a connection are treated like earlier segments.
#pragma once

#include <algorithm>
#include <cstddef>

#include "pep/base/time.h"
#include "relay/gateway/frames/keyed_hash.h"
#include "relay/gateway/opening/connections_in_use.h"
#include "relay/gateway/opening/recent_connections.h"
#include "relay/gateway/opening/split_vlans.h"

namespace satrelay::gateway {

struct ConnectionRecords {
  static constexpr std::size_t kFewestBridged = 4096;

  ConnectionRecords(HashKey secret, std::size_t most_flows)
      : bridged_syns(secret, RecentConnections::kRepetitions, std::max(most_flows, kFewestBridged)),
        syns_from_wan(secret, RecentConnections::kRepetitions),
        dropped_acks(secret, RecentConnections::kRepetitions),
        ended(secret, RecentConnections::kRepetitions),
        refused_in_use(secret, RecentConnections::kRepetitions),
        in_use(secret, RecentConnections::kRepetitions, kFewestBridged),
        own_syns(secret, RecentConnections::kRepetitions),
        split_vlans(secret) {}

  // Bridged SYNs from the LAN, with their sequence numbers. A repeated SYN is bridged again, since
  // the server may already have answered the first SYN.
  RecentConnections bridged_syns;
  // SYNs from the WAN, all of which are bridged, with their sequence numbers.
  RecentConnections syns_from_wan;
  // Dropped ACKs that had returned a SYN cookie, with their acknowledgment numbers. Until the host
  // repeats the ACK, the following segments of its connection are also dropped.
  RecentConnections dropped_acks;
  // Flows that were established and have ended, recorded with the number 0.
  RecentConnections ended;
  // Connections that exist between the two hosts but are not relayed, as the far gateway has
  // reported. They are recorded with the number 0.
  RecentConnections refused_in_use;
  // Bridged connections that are in use, according to segments on both ports of this gateway.
  ConnectionsInUse in_use;
  // SYNs of this gateway towards a host behind a peer, with their sequence numbers. A router of the
  // LAN may send such a SYN back to the gateway. So the SYN is recorded under the key that it would
  // have if it arrived from the LAN. The key has no VLANs (untagged()), since the router may choose
  // another VLAN.
  RecentConnections own_syns;
  // Pairs of hosts that use different VLANs in their two directions.
  SplitVlans split_vlans;
};

}  // namespace satrelay::gateway
