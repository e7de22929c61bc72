// Connections with different VLANs in their two directions. In a private VLAN, hosts send in one
// VLAN and are answered in another, or without a tag. To a gateway, such a connection looks like
// connections of two networks with the same addresses. So the gateway does not relay it. It bridges
// all connections between two hosts for which different VLANs were found. If the hosts of one VLAN
// have such connections to three servers of a peer, it bridges all connections that are opened in
// this VLAN to that peer.
//
// The records of pairs of hosts and of VLANs are removed five minutes after the last answer in
// another VLAN. The numbers of both are limited.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "pep/base/address.h"
#include "pep/base/time.h"
#include "pep/wire/ethernet.h"
#include "relay/gateway/frames/flow_key.h"
#include "relay/gateway/frames/keyed_hash.h"
#include "relay/gateway/ids.h"
#include "relay/gateway/opening/recent_connections.h"

namespace satrelay::gateway {

class SplitVlans {
 public:
  static constexpr Duration kKept = Duration::seconds(300);
  static constexpr std::size_t kServers = 3;
  static constexpr std::size_t kMostVlans = 64;

  explicit SplitVlans(HashKey key) : pairs_(key, kKept) {}

  // Call this when the far gateway reports different VLANs for a connection of a client of this
  // LAN.
  void note(const FlowKey& key, FarGatewayId peer, Instant now);
  bool has(const FlowKey& key, FarGatewayId peer, Instant now) const;
  // Call this when a SYN-ACK has arrived from the WAN in the VLANs of `key`. If the SYNs of this
  // pair of hosts have other VLANs, the record of the pair is kept for another five minutes.
  void look_at_answer(const FlowKey& key, Instant now);

 private:
  using Vlans = std::array<std::uint16_t, wire::kMaxVlanTags>;
  struct Vlan {
    Vlans vlans{};
    FarGatewayId peer;
    std::array<IpAddress, kServers> servers{};
    std::size_t count = 0;  // number of servers
    Instant until = {};
  };

  // The keys contain the two hosts without VLANs and ports. The numbers contain the VLANs of the
  // SYNs.
  RecentConnections pairs_;
  std::vector<Vlan> vlans_;
};

}  // namespace satrelay::gateway
