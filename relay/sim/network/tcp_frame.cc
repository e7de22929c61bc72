#include "relay/sim/network/tcp_frame.h"

#include "pep/wire/checksum.h"

namespace satrelay::sim {

std::optional<TcpFrame> parse_tcp_frame(ConstBytes frame) {
  const auto ethernet = wire::parse_ethernet(frame);
  if (!ethernet ||
      (ethernet->type != wire::EtherType::kIpv4 && ethernet->type != wire::EtherType::kIpv6)) {
    return std::nullopt;
  }
  const ConstBytes packet = frame.subspan(ethernet->size());
  const auto ip = wire::parse_ip(packet);
  if (!ip || ip->protocol != wire::kProtocolTcp || ip->is_fragment()) return std::nullopt;
  const ConstBytes segment = packet.subspan(ip->header_size, ip->payload_size);
  if (!wire::transport_checksum_ok(ip->source, ip->destination, wire::kProtocolTcp, segment)) {
    return std::nullopt;
  }
  const auto tcp = wire::parse_tcp(segment);
  if (!tcp) return std::nullopt;
  return TcpFrame{*ethernet, *ip, tcp->header, segment.subspan(tcp->header_size)};
}

std::size_t write_tcp_headers(const wire::EthernetHeader& ethernet, wire::IpHeader ip,
                              const wire::TcpHeader& tcp, std::size_t payload_size,
                              MutableBytes out) {
  wire::write_ethernet(ethernet, out);
  ip.protocol = wire::kProtocolTcp;
  ip.payload_size = static_cast<std::uint16_t>(wire::tcp_header_size(tcp) + payload_size);
  std::size_t size = ethernet.size();
  size += wire::write_ip(ip, out.subspan(size));
  size += wire::write_tcp(tcp, out.subspan(size));
  return size;
}

void finish_tcp_frame(const wire::EthernetHeader& ethernet, const wire::IpHeader& ip,
                      MutableBytes frame) {
  const std::size_t ip_size = ip.source.is_v4() ? wire::kIpv4HeaderSize : wire::kIpv6HeaderSize;
  const MutableBytes segment = frame.subspan(ethernet.size() + ip_size);
  store_u16(&segment[wire::kTcpChecksumOffset],
            wire::transport_checksum(ip.source, ip.destination, wire::kProtocolTcp, segment));
}

}  // namespace satrelay::sim
