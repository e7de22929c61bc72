// The multicast addresses to which neighbour solicitations are sent.
#pragma once

#include <array>
#include <cstdint>

#include "pep/base/address.h"

namespace satrelay::gateway {

// The solicited-node multicast address (RFC 4291 section 2.7.1).
inline IpAddress solicited_node(const IpAddress& address) {
  std::array<std::uint8_t, 16> o{0xff, 0x02, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x01, 0xff};
  for (std::size_t i = 13; i < 16; ++i) o[i] = address.octets()[i];
  return IpAddress::v6(o);
}

// The Ethernet address of an IPv6 multicast group (RFC 2464 section 7).
inline MacAddress multicast_mac(const IpAddress& group) {
  const auto& o = group.octets();
  return {{0x33, 0x33, o[12], o[13], o[14], o[15]}};
}

}  // namespace satrelay::gateway
