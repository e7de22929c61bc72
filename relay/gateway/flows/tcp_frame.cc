#include "relay/gateway/flows/tcp_frame.h"

#include "pep/base/check.h"
#include "pep/wire/checksum.h"
#include "pep/wire/ip.h"
#include "pep/wire/tcp.h"

namespace satrelay::gateway {

std::size_t write_tcp_frame(const Flow& flow, const tcp::SegmentToSend& segment, MutableBytes out) {
  wire::TcpHeader tcp = segment.header;
  tcp.source_port = flow.key.remote_port;
  tcp.destination_port = flow.key.local_port;
  const std::size_t tcp_size = wire::tcp_header_size(tcp) + segment.payload_size;

  wire::IpHeader ip;
  ip.source = flow.key.remote;
  ip.destination = flow.key.local;
  ip.protocol = wire::kProtocolTcp;
  // DSCP as the far host set it, ECN as ours.
  ip.traffic_class =
      static_cast<std::uint8_t>(flow.far_marks.traffic_class | static_cast<unsigned>(segment.ecn));
  ip.hop_limit = flow.far_marks.hop_limit;
  ip.flow_label = flow.flow_label;
  ip.payload_size = static_cast<std::uint16_t>(tcp_size);

  const std::size_t ip_at = flow.to_host.size();
  const std::size_t ip_size = ip.source.is_v4() ? wire::kIpv4HeaderSize : wire::kIpv6HeaderSize;
  SATRELAY_CHECK(ip_at + ip_size + tcp_size <= out.size());
  wire::write_ethernet(flow.to_host, out);
  wire::write_ip(ip, out.subspan(ip_at));
  const MutableBytes tcp_bytes = out.subspan(ip_at + ip_size, tcp_size);
  const std::size_t header_size = wire::write_tcp(tcp, tcp_bytes);
  if (segment.payload_size > 0) {  // a pure ACK has no place in the stream
    flow.endpoint.copy_payload(segment.payload_offset, tcp_bytes.subspan(header_size));
  }
  store_u16(tcp_bytes.data() + wire::kTcpChecksumOffset,
            wire::transport_checksum(ip.source, ip.destination, wire::kProtocolTcp, tcp_bytes));
  return ip_at + ip_size + tcp_size;
}

}  // namespace satrelay::gateway
