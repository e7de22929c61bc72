// The UDP ports of a lane. Its destination port tells the lane, at both ends; its source port is
// chosen such that flow_hash() of its packets ends in the number of the lane. So whatever spreads
// frames by that hash (network cards, the kernel's packet sockets) gives a lane to its worker, at
// both gateways: lane l is worker l mod N's of a gateway with N, and N divides the number of lanes.
// Both ends know all that goes in, and as the hash is the same for both directions, they choose the
// same ports. With one lane both are the configured port.
#pragma once

#include <cstdint>

#include "pep/base/address.h"
#include "relay/gateway/steering/flow_hash.h"

namespace satrelay::gateway {

struct LanePorts {
  std::uint16_t source = 0;
  std::uint16_t destination = 0;
  friend bool operator==(const LanePorts&, const LanePorts&) = default;
};

// The source port stands in the same block of so many as the destination port. In five bits of a
// port there are all endings of the hash that 16 lanes need (four bits have not all), and in each
// block at least two ports for each.
inline constexpr unsigned kLanePortBlock = 32;

// Lane `number` of `count`, a power of two up to 16, between two addresses in either order.
// `first_port`: stp.port, with room for all lanes.
constexpr LanePorts lane_ports(std::uint16_t first_port, unsigned number, unsigned count,
                               const IpAddress& one, const IpAddress& other) {
  const auto destination = static_cast<std::uint16_t>(first_port + number);
  for (unsigned i = 0; i < kLanePortBlock; ++i) {
    const auto source = static_cast<std::uint16_t>(destination ^ i);
    if (source == 0) continue;  // RFC 768: no port
    if ((flow_hash(one, other, source, destination) & (count - 1)) == number) {
      return {source, destination};
    }
  }
  return {destination, destination};  // not reached with such a count
}

}  // namespace satrelay::gateway
