// Reads an ICMP error from the LAN about the path MTU to a host: "fragmentation needed" (RFC 1191)
// or "packet too big" (RFC 8201).
#pragma once

#include <cstdint>
#include <optional>

#include "relay/gateway/frames/frame.h"

namespace satrelay::gateway {

struct PathMtuAdvice {
  std::uint32_t sequence = 0;  // sequence number of the quoted TCP segment
  // Maximum number of octets of TCP options and payload in a segment.
  std::uint16_t segment_limit = 0;
};
// nullopt if the frame is not such an error.
std::optional<PathMtuAdvice> path_mtu_advice(const Frame& frame);

}  // namespace satrelay::gateway
