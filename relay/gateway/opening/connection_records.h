// Records of connections that a gateway does not relay, or no longer relays. It keeps them for a
// while, so that later segments of a connection are treated like the earlier ones.
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

  // By the sequence number of a SYN from the LAN that was bridged. A repeated SYN is bridged again,
  // as the server may have answered the first one already. A connection that began while bridging
  // stays bridged to its end.
  RecentConnections bridged_syns;
  // The same for SYNs from the WAN, all of which are bridged.
  RecentConnections syns_from_wan;
  // By the number of an ACK that brought back a cookie and was dropped. The segments behind it are
  // dropped too, until the host repeats the ACK.
  RecentConnections dropped_acks;
  // Number 0: flows that were established once and have ended.
  RecentConnections ended;
  // Number 0: connections that the far host already has through no gateway, as its gateway reports.
  RecentConnections refused_in_use;
  // The same, as seen at the two ports of this gateway.
  ConnectionsInUse in_use;
  // By the sequence number of a SYN of ours towards a host behind a peer. A router of the LAN may
  // send the SYN back, so the key is as if the SYN came from the LAN. It is untagged(), since that
  // router may choose another VLAN.
  RecentConnections own_syns;
  // Pairs of hosts with different VLANs in their two directions.
  SplitVlans split_vlans;
};

}  // namespace satrelay::gateway
