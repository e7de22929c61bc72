// Frames for tests of the gateway: a TCP, UDP or raw frame in one line.
#pragma once

#include <algorithm>
#include <cstring>
#include <span>
#include <string_view>
#include <vector>

#include "pep/base/bytes.h"
#include "pep/wire/arp.h"
#include "pep/wire/checksum.h"
#include "pep/wire/ethernet.h"
#include "pep/wire/ip.h"
#include "pep/wire/tcp.h"
#include "pep/wire/udp.h"

namespace satrelay::gateway {

using FrameBytes = std::vector<std::byte>;

inline IpAddress ip_of(std::string_view text) { return *IpAddress::parse(text); }
inline constexpr MacAddress kHostMac{{2, 0, 0, 0, 0, 1}};
inline constexpr MacAddress kServerMac{{2, 0, 0, 0, 0, 2}};
inline constexpr MacAddress kGatewayMac{{2, 0, 0, 0, 0, 0xaa}};
inline constexpr MacAddress kPeerMac{{2, 0, 0, 0, 0, 0xbb}};

inline FrameBytes ip_frame(wire::EthernetHeader ethernet, wire::IpHeader ip,
                           const FrameBytes& payload) {
  ethernet.type = ip.source.is_v4() ? wire::EtherType::kIpv4 : wire::EtherType::kIpv6;
  ip.payload_size = static_cast<std::uint16_t>(payload.size());
  FrameBytes frame(ethernet.size() + 40 + payload.size());
  wire::write_ethernet(ethernet, frame);
  const std::size_t at =
      ethernet.size() + wire::write_ip(ip, MutableBytes(frame).subspan(ethernet.size()));
  std::copy(payload.begin(), payload.end(), frame.begin() + static_cast<std::ptrdiff_t>(at));
  frame.resize(at + payload.size());
  return frame;
}

inline wire::EthernetHeader host_to_server() {
  wire::EthernetHeader ethernet;
  ethernet.source = kHostMac;
  ethernet.destination = kServerMac;
  return ethernet;
}

inline FrameBytes arp_frame(wire::EthernetHeader ethernet, const wire::ArpMessage& arp) {
  ethernet.type = wire::EtherType::kArp;
  FrameBytes frame(ethernet.size() + wire::kArpSize);
  wire::write_ethernet(ethernet, frame);
  wire::write_arp(arp, MutableBytes(frame).subspan(ethernet.size()));
  return frame;
}

inline FrameBytes tcp_frame(std::string_view from, std::string_view to, const wire::TcpHeader& tcp,
                            wire::EthernetHeader ethernet = host_to_server(),
                            std::string_view payload = {}) {
  wire::IpHeader ip;
  ip.source = ip_of(from);
  ip.destination = ip_of(to);
  ip.protocol = wire::kProtocolTcp;
  FrameBytes segment(wire::tcp_header_size(tcp) + payload.size());
  std::ranges::copy(std::as_bytes(std::span(payload)),
                    segment.begin() + static_cast<std::ptrdiff_t>(wire::write_tcp(tcp, segment)));
  store_u16(segment.data() + wire::kTcpChecksumOffset,
            wire::transport_checksum(ip.source, ip.destination, ip.protocol, segment));
  return ip_frame(ethernet, ip, segment);
}

inline FrameBytes udp_frame(std::string_view from, std::string_view to, std::uint16_t port,
                            const FrameBytes& payload,
                            wire::EthernetHeader ethernet = host_to_server()) {
  wire::IpHeader ip;
  ip.source = ip_of(from);
  ip.destination = ip_of(to);
  ip.protocol = wire::kProtocolUdp;
  FrameBytes datagram(wire::kUdpHeaderSize + payload.size());
  wire::write_udp({port, port, static_cast<std::uint16_t>(datagram.size()), 0}, datagram);
  std::copy(payload.begin(), payload.end(), datagram.begin() + wire::kUdpHeaderSize);
  return ip_frame(ethernet, ip, datagram);
}

struct StpPath {
  MacAddress from_mac;
  MacAddress to_mac;
  IpAddress from;
  IpAddress to;
  std::uint16_t port = 7878;
};

inline FrameBytes stp_frame(ConstBytes packet, const StpPath& path) {
  wire::EthernetHeader ethernet;
  ethernet.source = path.from_mac;
  ethernet.destination = path.to_mac;
  wire::IpHeader ip;
  ip.source = path.from;
  ip.destination = path.to;
  ip.protocol = wire::kProtocolUdp;
  FrameBytes datagram(wire::kUdpHeaderSize + packet.size());
  wire::write_udp({path.port, path.port, static_cast<std::uint16_t>(datagram.size()), 0}, datagram);
  std::copy(packet.begin(), packet.end(), datagram.begin() + wire::kUdpHeaderSize);
  return ip_frame(ethernet, ip, datagram);
}

}  // namespace satrelay::gateway
