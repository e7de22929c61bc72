// The UDP ports of a lane. The destination port identifies the lane. The source port is chosen so
// that the lowest bits of the packets' flow_hash() are the number of the lane. Network cards and
// the kernel's packet sockets distribute frames by that hash. In a gateway with N workers, they
// pass the frames of lane l to worker l mod N, which has the lane. N divides the number of lanes.
// Both ends choose the same ports: both know all inputs, and the hash is the same in both
// directions. If there is one lane, both ports are the configured port.
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

// Size of the blocks of ports. The source port and the destination port are in the same block. The
// ports of a block differ in five bits. 16 lanes need 16 different endings of the hash. With five
// bits there are at least two ports for each of them; four bits are too few.
inline constexpr unsigned kLanePortBlock = 32;

// Returns the ports of lane `number` of `count`, a power of two up to 16, between two addresses in
// either order. `first_port`: stp.port, with room for all lanes behind it.
constexpr LanePorts lane_ports(std::uint16_t first_port, unsigned number, unsigned count,
                               const IpAddress& one, const IpAddress& other) {
  const auto destination = static_cast<std::uint16_t>(first_port + number);
  for (unsigned i = 0; i < kLanePortBlock; ++i) {
    const auto source = static_cast<std::uint16_t>(destination ^ i);
    if (source == 0) continue;  // RFC 768: 0 is not a port
    if ((flow_hash(one, other, source, destination) & (count - 1)) == number) {
      return {source, destination};
    }
  }
  return {destination, destination};  // not reached, since `count` is at most 16
}

}  // namespace satrelay::gateway
