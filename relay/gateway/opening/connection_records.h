// What a gateway remembers for a while of connections that it does not relay, or relays no more, so
// that what comes later of the same ones is treated alike.
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

  // By the sequence number of a SYN from the LAN that was bridged. A repeated one is bridged again:
  // the server may have answered the first already, and a connection that began while bridging
  // stays bridged to its end.
  RecentConnections bridged_syns;
  // The same of SYNs from the WAN, all of which are bridged.
  RecentConnections syns_from_wan;
  // By the number of an ACK that brought a cookie back and was dropped: what follows it is dropped
  // too, until the host repeats it.
  RecentConnections dropped_acks;
  // Number 0: flows that are over and were established once.
  RecentConnections ended;
  // Number 0: connections that the far host has already, through no gateway, as its gateway says.
  RecentConnections refused_in_use;
  // The same as the two ports of this gateway show.
  ConnectionsInUse in_use;
  // By the sequence number of a SYN of ours towards a host behind a peer, which a router of the LAN
  // may send back. As it would come: from its far end, and untagged(), since that router may choose
  // another VLAN.
  RecentConnections own_syns;
  // Pairs of hosts whose two directions have different VLANs.
  SplitVlans split_vlans;
};

}  // namespace satrelay::gateway
