// The network to which a host probably belongs: its /24 or its /64. The real prefix length is not
// known.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>

#include "pep/base/address.h"

namespace satrelay::gateway {

// The address of the network, with zeros for the bits of the host.
inline IpAddress network_of(const IpAddress& host) {
  constexpr std::size_t kOctetsOfV4 = 3;
  constexpr std::size_t kOctetsOfV6 = 8;
  auto octets = host.octets();
  std::ranges::fill(std::span(octets).subspan(host.is_v4() ? kOctetsOfV4 : kOctetsOfV6), 0);
  return host.is_v4() ? IpAddress::v4({octets[0], octets[1], octets[2], octets[3]})
                      : IpAddress::v6(octets);
}

}  // namespace satrelay::gateway
