#include "relay/gateway/frames/path_mtu_advice.h"

#include <algorithm>

#include "pep/wire/icmp.h"
#include "pep/wire/tcp.h"

namespace satrelay::gateway {
namespace {

// Every IPv4 host accepts a datagram of this size. It is used if a router is older than RFC 1191
// and reports no MTU.
constexpr std::uint32_t kSafeMtu = 576;
// Every IPv6 link carries packets of this size. A message with a smaller MTU is discarded (RFC 8201
// section 4).
constexpr std::uint32_t kLeastMtuV6 = 1280;

}  // namespace

std::optional<PathMtuAdvice> path_mtu_advice(const Frame& frame) {
  const auto message = wire::parse_icmp(frame.ip, frame.payload);
  if (!message) return std::nullopt;
  const bool is_v4 = frame.ip.source.is_v4();
  const bool too_big = is_v4 ? message->type == wire::kIcmpUnreachable &&
                                   message->code == wire::kIcmpFragmentationNeeded
                             : message->type == wire::kIcmpV6PacketTooBig;
  const auto quoted = wire::parse_quoted_flow(frame.ip, *message);
  if (!too_big || !quoted || quoted->protocol != wire::kProtocolTcp) return std::nullopt;
  std::uint32_t mtu = is_v4 ? message->rest & 0xffffU : std::min(message->rest, 0xffffU);
  if (!is_v4 && mtu < kLeastMtuV6) return std::nullopt;
  if (mtu == 0) mtu = kSafeMtu;
  const std::uint32_t headers = static_cast<std::uint32_t>(
      wire::kTcpHeaderSize + (is_v4 ? wire::kIpv4HeaderSize : wire::kIpv6HeaderSize));
  return PathMtuAdvice{quoted->sequence,
                       static_cast<std::uint16_t>(mtu > headers ? mtu - headers : 0)};
}

}  // namespace satrelay::gateway
