// Finds the peer with a given address. The sources of STP packets are looked up, and may be forged.
// The hash is keyed, so a look-up takes few steps, even if there are many peers.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "config/model/schema.h"
#include "pep/base/address.h"
#include "relay/gateway/frames/keyed_hash.h"
#include "relay/gateway/ids.h"

namespace satrelay::gateway {

class PeerAddresses {
 public:
  PeerAddresses(std::span<const config::Peer> peers, HashKey key) : key_(key) {
    for (const config::Peer& peer : peers) addresses_.push_back(peer.address);
    if (addresses_.size() <= kFew) return;
    places_.assign(std::bit_ceil(4 * addresses_.size()), kFree);
    for (std::uint32_t i = 0; i < addresses_.size(); ++i) {
      std::uint32_t& place = places_[place_of(addresses_[i])];
      if (place == kFree) place = i;
    }
  }

  std::optional<FarGatewayId> find(const IpAddress& address) const {
    if (places_.empty()) {
      const auto found = std::ranges::find(addresses_, address);
      if (found == addresses_.end()) return std::nullopt;
      return FarGatewayId(static_cast<std::size_t>(found - addresses_.begin()));
    }
    const std::uint32_t peer = places_[place_of(address)];
    if (peer == kFree) return std::nullopt;
    return FarGatewayId(peer);
  }
  // Maximum number of addresses that find() compares with this address.
  std::size_t steps(const IpAddress& address) const {
    if (places_.empty()) return addresses_.size();
    return ((place_of(address) - first_of(address)) & (places_.size() - 1)) + 1;
  }

 private:
  // Up to this number it is faster to compare the addresses than to hash them.
  static constexpr std::size_t kFew = 8;
  static constexpr std::uint32_t kFree = 0xffff'ffffU;

  std::size_t first_of(const IpAddress& address) const {
    return hash_host(key_, address) & (places_.size() - 1);
  }
  // The index of the address in places_, or of the entry that the address would get. At least three
  // of four entries are free.
  std::size_t place_of(const IpAddress& address) const {
    std::size_t at = first_of(address);
    while (places_[at] != kFree && addresses_[places_[at]] != address) {
      at = (at + 1) & (places_.size() - 1);
    }
    return at;
  }

  HashKey key_;
  std::vector<IpAddress> addresses_;   // indexed by peer
  std::vector<std::uint32_t> places_;  // indices of peers, by hash; empty if there are few peers
};

}  // namespace satrelay::gateway
