// The UDP ports of a lane. At both ends, the destination port names the lane. The source port is
// chosen such that flow_hash() of the lane's packets ends in the number of the lane. Network cards
// and the kernel's packet sockets distribute frames by that hash. So they pass the frames of lane l
// to the worker of the lane: worker l mod N of a gateway with N workers, where N divides the number
// of lanes. Both ends choose the same ports, since both know all inputs, and the hash is the same
// for both directions. If there is one lane, both ports are the configured port.
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

// The source port is in the same block of this many ports as the destination port. The ports of a
// block differ in five bits. Five bits give all endings of the hash that 16 lanes need (four bits
// do not), and at least two ports for each ending.
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
