// What an ICMP error from the LAN says about the path to a host: "fragmentation needed" (RFC 1191)
// or "packet too big" (RFC 8201).
#pragma once

#include <cstdint>
#include <optional>

#include "relay/gateway/frames/frame.h"

namespace satrelay::gateway {

struct PathMtuAdvice {
  std::uint32_t sequence = 0;       // of the TCP segment that it quotes
  std::uint16_t segment_limit = 0;  // octets of TCP options and payload that get through
};
// nullopt if it says something else.
std::optional<PathMtuAdvice> path_mtu_advice(const Frame& frame);

}  // namespace satrelay::gateway
