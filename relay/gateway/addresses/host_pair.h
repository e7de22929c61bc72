// Two hosts that have connections with each other across the link.
#pragma once

#include "pep/base/address.h"
#include "relay/gateway/addresses/lan/lan_owners.h"
#include "relay/gateway/frames/flow_key.h"
#include "relay/gateway/frames/keyed_hash.h"

namespace satrelay::gateway {

struct HostPair {
  LanAddress here;  // with the VLANs in which the two hosts communicate
  IpAddress there;
  friend bool operator==(const HostPair&, const HostPair&) = default;
};

inline HostPair host_pair(const FlowKey& key) { return {{key.local, key.vlans}, key.remote}; }

inline std::uint64_t hash_pair(const HashKey& key, const HostPair& pair) {
  return hash_flow(key, {pair.here.host, pair.there, 0, 0, pair.here.vlans});
}

}  // namespace satrelay::gateway
