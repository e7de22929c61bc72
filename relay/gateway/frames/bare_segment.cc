#include "relay/gateway/frames/bare_segment.h"

#include "pep/base/check.h"
#include "pep/wire/checksum.h"
#include "pep/wire/ip.h"
#include "relay/gateway/frames/keyed_hash.h"

namespace satrelay::gateway {

std::size_t write_bare_segment(const wire::EthernetHeader& to_host, const FlowKey& key,
                               wire::TcpHeader header, MutableBytes out) {
  header.source_port = key.remote_port;
  header.destination_port = key.local_port;
  const std::size_t tcp_size = wire::tcp_header_size(header);
  wire::IpHeader ip;
  ip.source = key.remote;
  ip.destination = key.local;
  ip.protocol = wire::kProtocolTcp;
  if (!ip.source.is_v4()) ip.flow_label = flow_label(key);
  ip.payload_size = static_cast<std::uint16_t>(tcp_size);
  const std::size_t ip_at = to_host.size();
  const std::size_t ip_size = ip.source.is_v4() ? wire::kIpv4HeaderSize : wire::kIpv6HeaderSize;
  SATRELAY_CHECK(ip_at + ip_size + tcp_size <= out.size());
  wire::write_ethernet(to_host, out);
  wire::write_ip(ip, out.subspan(ip_at));
  const MutableBytes tcp = out.subspan(ip_at + ip_size, tcp_size);
  wire::write_tcp(header, tcp);
  store_u16(tcp.data() + wire::kTcpChecksumOffset,
            wire::transport_checksum(ip.source, ip.destination, wire::kProtocolTcp, tcp));
  return ip_at + ip_size + tcp_size;
}

}  // namespace satrelay::gateway
