// Finds the peer and the lane to which an address, a port or a flow belongs.
#pragma once

#include <optional>

#include "config/model/schema.h"
#include "pep/base/address.h"
#include "relay/gateway/frames/keyed_hash.h"
#include "relay/gateway/steering/lane_addresses.h"
#include "relay/gateway/steering/peer_addresses.h"
#include "relay/gateway/steering/share.h"

namespace satrelay::gateway {

class PeerDirectory {
 public:
  PeerDirectory(const config::Gateway& config, Share share, HashKey secret)
      : own_(config.gateway.own), lanes_(config, share), peers_(config.peers, secret) {}

  const LaneAddresses& lanes() const { return lanes_; }
  const PeerAddresses& peers() const { return peers_; }
  // Whether `address` belongs to this gateway or to a peer.
  bool has_gateway(const IpAddress& address) const {
    return address == own_ || peers_.find(address).has_value();
  }

 private:
  IpAddress own_;
  LaneAddresses lanes_;
  PeerAddresses peers_;
};

}  // namespace satrelay::gateway
