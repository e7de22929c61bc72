// Connections with different VLANs in their two directions. In a private VLAN, hosts send in one
// VLAN and are answered in another, or without a tag. A gateway cannot distinguish such a
// connection from connections of two networks with the same addresses, so it does not relay such
// connections. It bridges the pairs of hosts for which different VLANs were found. If they were
// found for three servers of one peer, it bridges all connections that hosts open in the same VLAN
// to that peer.
//
// Pairs and VLANs are removed five minutes after the last answer in another VLAN. The number of
// both is limited.
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

  // The far gateway has reported different VLANs for a connection with this key, of a client of
  // this LAN.
  void note(const FlowKey& key, FarGatewayId peer, Instant now);
  bool has(const FlowKey& key, FarGatewayId peer, Instant now) const;
  // A SYN-ACK has arrived from the WAN, in the VLANs of `key`. If the SYNs of this pair of hosts
  // have other VLANs, the record of the pair is renewed.
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

  RecentConnections pairs_;  // the key has the two hosts without VLANs; the number has the VLANs
  std::vector<Vlan> vlans_;
};

}  // namespace satrelay::gateway
