// Reads ICMP errors on the LAN about a TCP segment to a host (RFC 792, RFC 4443), except the errors
// that the segment was too big (path_mtu_advice.h).
#pragma once

#include <cstdint>
#include <optional>

#include "pep/base/address.h"
#include "pep/tcp/types.h"
#include "relay/gateway/frames/frame.h"

namespace satrelay::gateway {

struct IcmpCode {
  std::uint8_t type = 0;
  std::uint8_t code = 0;
  friend bool operator==(const IcmpCode&, const IcmpCode&) = default;
};
// The error "host unreachable", or with IPv6 "address unreachable".
IcmpCode host_unreachable(IpVersion version);

struct QuotedError {
  std::uint32_t sequence = 0;  // sequence number of the quoted TCP segment
  tcp::PathError error = tcp::PathError::kSoft;
  IcmpCode code;
};
// Returns nullopt for an error that does not make connect() fail. The choice of errors follows the
// Linux kernel. An error is hard only if it says that the host has no such port or no TCP (RFC 1122
// section 4.2.3.9).
std::optional<tcp::PathError> path_error(IpVersion version, IcmpCode code);
std::optional<QuotedError> path_error(const Frame& frame);

}  // namespace satrelay::gateway
