#include "relay/gateway/rules/claims.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>

namespace satrelay::gateway {
namespace {

// Whether the address cannot belong to one host that is reached through a router (RFC 6890). For
// example, a link-local address may belong to a different host on each link.
bool is_special(const IpAddress& address) {
  const auto& o = address.octets();
  if (address.is_multicast()) return true;
  if (address.is_v4()) {
    if (o[0] == 0 || o[0] == 127 || (o[0] == 169 && o[1] == 254)) return true;
    return o[0] == 255 && o[1] == 255 && o[2] == 255 && o[3] == 255;
  }
  if (o[0] == 0xfe && (o[1] & 0xc0U) == 0x80) return true;
  // ::/96 has ::, ::1 and the old IPv4-compatible addresses; ::ffff:0:0/96 has IPv4-mapped
  // addresses.
  const bool ten_zeros = std::all_of(o.begin(), o.begin() + 10, [](auto b) { return b == 0; });
  return ten_zeros && ((o[10] == 0 && o[11] == 0) || (o[10] == 0xff && o[11] == 0xff));
}

// Returns the last address of an IPv4 subnet, if it is a broadcast address (RFC 3021); otherwise
// the unspecified address.
IpAddress broadcast_of(const IpPrefix& subnet) {
  if (!subnet.address.is_v4() || subnet.length > 30) return IpAddress::v4({});
  std::array<std::uint8_t, 4> octets{};
  for (unsigned i = 0; i < 4; ++i) {
    const unsigned kept = std::min(8U, subnet.length - std::min<unsigned>(subnet.length, 8 * i));
    octets[i] = static_cast<std::uint8_t>(subnet.address.octets()[i] | (0xffU >> kept));
  }
  return IpAddress::v4(octets);
}

bool is_station(const MacAddress& mac) { return !mac.is_multicast() && mac != MacAddress(); }

// Whether the gateway may send a frame with such a header on its LAN: both MACs must be unicast,
// and all tags must be VLAN tags.
bool is_plain(const wire::EthernetHeader& header) {
  const auto tags = std::span(header.tags).first(header.tag_count);
  return is_station(header.source) && is_station(header.destination) &&
         std::ranges::all_of(tags, [](const wire::VlanTag& tag) {
           return tag.tpid == static_cast<std::uint16_t>(wire::EtherType::kVlan) ||
                  tag.tpid == static_cast<std::uint16_t>(wire::EtherType::kServiceVlan);
         });
}

}  // namespace

Claims::Claims(const config::Gateway& config, const Policy& policy)
    : policy_(policy), broadcast_(broadcast_of(config.gateway.address)) {
  gateways_.push_back(config.gateway.own);
  for (const config::Peer& peer : config.peers) gateways_.push_back(peer.address);
  std::ranges::sort(gateways_);
}

bool Claims::is_host(const IpAddress& address) const {
  return !is_special(address) && address != broadcast_ &&
         !std::ranges::binary_search(gateways_, address);
}

bool Claims::allow(FarGatewayId peer, const Ends& ends) const {
  return allow(peer, ends.there, ends.here) && is_plain(ends.ethernet);
}

bool Claims::allow(FarGatewayId peer, const IpAddress& there, const IpAddress& here) const {
  return are_hosts(there, here) && there != here && policy_.peer_for(there) == peer;
}

bool Claims::is_behind_a_peer(const IpAddress& host) const {
  const auto prefix = policy_.prefix_for(host);
  return prefix && prefix->length > 0;
}

}  // namespace satrelay::gateway
