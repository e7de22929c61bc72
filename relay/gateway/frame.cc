#include "relay/gateway/frame.h"

namespace satrelay::gateway {
namespace {

FrameKind kind_of_v6(std::uint8_t next_header) {
  switch (next_header) {
    case wire::kProtocolTcp:
      return FrameKind::kTcp;
    case wire::kProtocolUdp:
      return FrameKind::kUdp;
    case wire::kProtocolIcmpV6:
      return FrameKind::kIcmp;
    case 0:    // hop-by-hop options
    case 43:   // routing
    case 44:   // fragment
    case 51:   // authentication
    case 60:   // destination options
    case 135:  // mobility
    case 139:  // host identity
    case 140:  // shim6
      return FrameKind::kIpExtension;
    default:
      return FrameKind::kOtherIp;
  }
}

FrameKind kind_of_v4(const wire::IpHeader& ip) {
  if (ip.is_fragment()) return FrameKind::kFragment;
  if (ip.has_options()) return FrameKind::kIpOptions;
  switch (ip.protocol) {
    case wire::kProtocolTcp:
      return FrameKind::kTcp;
    case wire::kProtocolUdp:
      return FrameKind::kUdp;
    case wire::kProtocolIcmp:
      return FrameKind::kIcmp;
    default:
      return FrameKind::kOtherIp;
  }
}

}  // namespace

Frame look_at(ConstBytes bytes) {
  Frame frame;
  const auto ethernet = wire::parse_ethernet(bytes);
  if (!ethernet) return frame;
  frame.ethernet = *ethernet;
  const ConstBytes payload = bytes.subspan(ethernet->size());
  if (ethernet->type == wire::EtherType::kArp) {
    frame.kind = FrameKind::kArp;
    frame.payload = payload;
    return frame;
  }
  if (ethernet->type != wire::EtherType::kIpv4 && ethernet->type != wire::EtherType::kIpv6) {
    frame.kind = FrameKind::kNotIp;
    return frame;
  }
  const auto ip = wire::parse_ip(payload);
  if (!ip || ip->source.is_v4() != (ethernet->type == wire::EtherType::kIpv4)) return frame;
  frame.ip = *ip;
  frame.payload = payload.subspan(ip->header_size, ip->payload_size);
  frame.kind = ip->source.is_v4() ? kind_of_v4(*ip) : kind_of_v6(ip->protocol);
  return frame;
}

}  // namespace satrelay::gateway
