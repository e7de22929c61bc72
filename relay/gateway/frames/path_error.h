// What an ICMP error on the LAN says about a TCP segment to a host, other than that it was too big
// (path_mtu_advice.h): RFC 792, RFC 4443.
#pragma once

#include <cstdint>
#include <optional>

#include "pep/tcp/types.h"
#include "relay/gateway/frames/frame.h"

namespace satrelay::gateway {

struct QuotedError {
  std::uint32_t sequence = 0;  // of the TCP segment that it quotes
  tcp::PathError error = tcp::PathError::kSoft;
};
// nullopt if it is no such error. Hard is only what says that the host has no such port or no TCP
// (RFC 1122 section 4.2.3.9). A network or host that is out of reach, a filter, and a hop limit
// that ran out may all be otherwise a second later.
std::optional<QuotedError> path_error(const Frame& frame);

}  // namespace satrelay::gateway
