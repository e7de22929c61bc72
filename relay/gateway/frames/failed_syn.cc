#include "relay/gateway/frames/failed_syn.h"

#include <array>

#include "pep/base/check.h"
#include "pep/wire/checksum.h"
#include "pep/wire/icmp.h"
#include "pep/wire/ip.h"

namespace satrelay::gateway {
namespace {

// Reconstructs the SYN. The window and the values of the timestamps are not known, and are zero:
// hosts find the connection by the addresses, the ports and the sequence number.
std::size_t write_quote(const FailedSyn& syn, MutableBytes out) {
  wire::TcpHeader tcp;
  tcp.source_port = syn.key.local_port;
  tcp.destination_port = syn.key.remote_port;
  tcp.sequence = syn.sequence;
  tcp.flags = wire::TcpFlags::kSyn;
  tcp.options = syn.options;
  const std::size_t tcp_size = wire::tcp_header_size(tcp);
  wire::IpHeader ip;
  ip.source = syn.key.local;
  ip.destination = syn.key.remote;
  ip.protocol = wire::kProtocolTcp;
  ip.traffic_class = syn.traffic_class;
  ip.hop_limit = syn.hop_limit;
  ip.payload_size = static_cast<std::uint16_t>(tcp_size);
  const std::size_t ip_size = wire::write_ip(ip, out);
  const MutableBytes segment = out.subspan(ip_size, tcp_size);
  wire::write_tcp(tcp, segment);
  store_u16(segment.data() + wire::kTcpChecksumOffset,
            wire::transport_checksum(ip.source, ip.destination, wire::kProtocolTcp, segment));
  return ip_size + tcp_size;
}

}  // namespace

std::size_t write_failed_syn(const wire::EthernetHeader& to_host, const IpAddress& sender,
                             IcmpCode code, const FailedSyn& syn, MutableBytes out) {
  constexpr std::uint8_t kInternetworkControl = 0xc0;  // RFC 1812 section 4.3.2.5
  SATRELAY_CHECK(out.size() >= kMostFailedSynFrame);
  std::array<std::byte, wire::kIpv6HeaderSize + wire::kMaxTcpHeaderSize> quote;
  const std::size_t quoted = write_quote(syn, quote);
  const bool v4 = sender.is_v4();
  wire::IpHeader ip;
  ip.source = sender;
  ip.destination = syn.key.local;
  ip.protocol = v4 ? wire::kProtocolIcmp : wire::kProtocolIcmpV6;
  ip.traffic_class = v4 ? kInternetworkControl : std::uint8_t{0};
  ip.payload_size = static_cast<std::uint16_t>(wire::kIcmpHeaderSize + quoted);
  wire::write_ethernet(to_host, out);
  const std::size_t ip_at = to_host.size();
  const std::size_t icmp_at = ip_at + wire::write_ip(ip, out.subspan(ip_at));
  const wire::IcmpMessage message{
      .type = code.type, .code = code.code, .rest = 0, .body = ConstBytes(quote).first(quoted)};
  return icmp_at + wire::write_icmp(ip, message, out.subspan(icmp_at));
}

}  // namespace satrelay::gateway
