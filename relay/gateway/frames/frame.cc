#include "relay/gateway/frames/frame.h"

namespace satrelay::gateway {
namespace {

// Skips the extension headers.
FrameKind look_behind(Frame& frame) {
  frame.extensions = wire::walk_extension_headers(frame.ip.protocol, frame.payload);
  frame.ip.protocol = frame.extensions.protocol;
  frame.payload = frame.payload.subspan(frame.extensions.size);
  if (const auto& fragment = frame.extensions.fragment; fragment && !fragment->is_atomic()) {
    frame.ip.more_fragments = fragment->more;
    frame.ip.fragment_offset = fragment->offset;
    return FrameKind::kFragment;
  }
  return FrameKind::kIpExtension;
}

FrameKind kind_of_v6(Frame& frame) {
  switch (frame.ip.protocol) {
    case wire::kProtocolTcp:
      return FrameKind::kTcp;
    case wire::kProtocolUdp:
      return FrameKind::kUdp;
    case wire::kProtocolIcmpV6:
      return FrameKind::kIcmp;
    default:
      break;
  }
  return wire::is_extension_header(frame.ip.protocol) ? look_behind(frame) : FrameKind::kOtherIp;
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

void look_at_packet(ConstBytes packet, Frame& frame) {
  const wire::IpHeader& ip = frame.ip;
  if (!wire::parse_ip(packet, frame.ip)) return;
  frame.payload = packet.subspan(ip.header_size, ip.payload_size);
  frame.kind = ip.source.is_v4() ? kind_of_v4(ip) : kind_of_v6(frame);
}

void look_at(ConstBytes bytes, Frame& frame) {
  static constexpr Frame kBlank;  // copied as a whole, instead of member by member
  frame = kBlank;
  if (!wire::parse_ethernet(bytes, frame.ethernet)) {
    frame.ethernet = {};
    return;
  }
  const wire::EtherType type = frame.ethernet.type;
  const ConstBytes payload = bytes.subspan(frame.ethernet.size());
  if (type != wire::EtherType::kIpv4 && type != wire::EtherType::kIpv6) {
    frame.kind = type == wire::EtherType::kArp ? FrameKind::kArp : FrameKind::kNotIp;
    frame.payload = payload;
    return;
  }
  const std::uint8_t version = payload.empty() ? 0 : load_u8(payload.data()) >> 4;
  if (version != (type == wire::EtherType::kIpv4 ? 4 : 6)) return;
  look_at_packet(payload, frame);
}

}  // namespace satrelay::gateway
