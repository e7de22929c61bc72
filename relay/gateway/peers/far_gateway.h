// A configured far gateway, called a peer. The lanes to it share this object. Each worker has lanes
// to the peer, and each lane has a session. A worker knows only its own lanes.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "config/model/schema.h"
#include "pep/base/arena.h"
#include "pep/base/typed_id.h"
#include "relay/gateway/ids.h"

namespace satrelay::gateway {

struct FarGateway {
  // `whole` must outlive this object. `kept`: the part of `whole` that is reserved for this peer.
  FarGateway(const config::Peer& peer_config, std::vector<LinkId> its_links,
             IdRange<LaneId> its_lanes, Arena& whole, const Arena::Kept& kept)
      : config(peer_config), links(std::move(its_links)), lanes(its_lanes), arena(whole, kept) {
    config.security.forget_keys();  // only the sessions need the keys
  }

  config::Peer config;
  std::vector<LinkId> links;  // the links of the lanes; today there is exactly one
  IdRange<LaneId> lanes;      // the lanes of this worker
  Arena arena;                // the peer's part of the worker's arena
};

// All far gateways, in the order of the configuration.
using FarGateways = IdVector<FarGatewayId, std::unique_ptr<FarGateway>>;

}  // namespace satrelay::gateway
