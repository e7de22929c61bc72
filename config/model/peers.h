// Whether the peers of a gateway are on its own subnet or behind a router.
#pragma once

#include <algorithm>

#include "config/model/schema.h"

namespace satrelay::config {

// Whether the peer is outside the gateway's own subnet.
inline bool is_behind_router(const Gateway& config, const Peer& peer) {
  return !config.gateway.address.contains(peer.address);
}
inline bool has_peers_behind_routers(const Gateway& config) {
  return std::ranges::any_of(config.peers,
                             [&](const Peer& peer) { return is_behind_router(config, peer); });
}

}  // namespace satrelay::config
