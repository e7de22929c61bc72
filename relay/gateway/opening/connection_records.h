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
  // the server may already have answered the first SYN. A connection that began while the gateway
  // bridged stays bridged to its end.
  RecentConnections bridged_syns;
  // SYNs from the WAN, with their sequence numbers. All of them are bridged.
  RecentConnections syns_from_wan;
  // ACKs that returned a cookie and were dropped, with their acknowledgment numbers. The following
  // segments of the connection are dropped too, until the host repeats the ACK.
  RecentConnections dropped_acks;
  // Flows that were established and have ended, recorded with the number 0.
  RecentConnections ended;
  // Connections that the two hosts already have and that are not relayed, according to the far
  // gateway. They are recorded with the number 0.
  RecentConnections refused_in_use;
  // Connections that this gateway itself has seen in use on both of its ports.
  ConnectionsInUse in_use;
  // SYNs of this gateway towards a host behind a peer, with their sequence numbers. A router of the
  // LAN may send such a SYN back to the gateway, so the SYN is recorded under the key that it has
  // when it arrives from the LAN. The key is untagged(), since the router may choose another VLAN.
  RecentConnections own_syns;
  // Pairs of hosts that use different VLANs in their two directions.
  SplitVlans split_vlans;
};

}  // namespace satrelay::gateway
