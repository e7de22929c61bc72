#include "relay/gateway/flows/tcp_frame.h"

#include <cstring>

#include "pep/base/check.h"
#include "pep/wire/checksum.h"
#include "pep/wire/ip.h"
#include "pep/wire/tcp.h"

namespace satrelay::gateway {

void TcpFrames::write(const Flow& flow, tcp::SegmentToSend segments,
                      std::span<const MutableBytes> rooms, std::span<Polled> polled) const {
  const Headers headers = write_headers(flow, segments, rooms.front());
  const std::size_t count = segments.count;
  polled[0] = finish(flow, segments, headers, rooms[0]);
  for (std::size_t i = 1; i < count; ++i) {
    segments.step();
    SATRELAY_CHECK(headers.size + segments.payload_size <= rooms[i].size());
    std::memcpy(rooms[i].data(), rooms[0].data(), headers.size);
    std::byte* const tcp = rooms[i].data() + headers.tcp_at;
    store_u32(tcp + wire::kTcpSequenceOffset, segments.header.sequence);
    store_u16(tcp + wire::kTcpChecksumOffset, 0);
    polled[i] = finish(flow, segments, headers, rooms[i]);
  }
}

// Writes all headers, but not the TCP checksum.
TcpFrames::Headers TcpFrames::write_headers(const Flow& flow, const tcp::SegmentToSend& segment,
                                            MutableBytes out) {
  wire::TcpHeader tcp = segment.header;
  tcp.source_port = flow.key.remote_port;
  tcp.destination_port = flow.key.local_port;
  const std::size_t tcp_size = wire::tcp_header_size(tcp) + segment.payload_size;

  wire::IpHeader ip;
  ip.source = flow.key.remote;
  ip.destination = flow.key.local;
  ip.protocol = wire::kProtocolTcp;
  // The DSCP is the far host's, and the ECN field belongs to this endpoint's own connection.
  ip.traffic_class =
      static_cast<std::uint8_t>(flow.marks.far.traffic_class | static_cast<unsigned>(segment.ecn));
  ip.hop_limit = flow.marks.far.hop_limit;
  ip.flow_label = flow.lan.flow_label;
  ip.payload_size = static_cast<std::uint16_t>(tcp_size);

  const std::size_t ip_at = flow.lan.to_host.size();
  const std::size_t ip_size = ip.source.is_v4() ? wire::kIpv4HeaderSize : wire::kIpv6HeaderSize;
  SATRELAY_CHECK(ip_at + ip_size + tcp_size <= out.size());
  wire::write_ethernet(flow.lan.to_host, out);
  wire::write_ip(ip, out.subspan(ip_at));
  const std::size_t tcp_at = ip_at + ip_size;
  return {.tcp_at = tcp_at, .size = tcp_at + wire::write_tcp(tcp, out.subspan(tcp_at, tcp_size))};
}

// Writes the payload behind the headers, and the TCP checksum into the headers.
Polled TcpFrames::finish(const Flow& flow, const tcp::SegmentToSend& segment,
                         const Headers& headers, MutableBytes out) const {
  const std::size_t size = headers.size + segment.payload_size;
  if (segment.payload_size > 0) {  // a pure ACK has no payload offset
    flow.endpoint.copy_payload(segment.payload_offset,
                               out.subspan(headers.size, segment.payload_size));
  }
  const MutableBytes tcp = out.subspan(headers.tcp_at, size - headers.tcp_at);
  Polled polled{.kind = Polled::Kind::kWritten, .size = size};
  std::byte* const checksum = tcp.data() + wire::kTcpChecksumOffset;
  const IpAddress& from = flow.key.remote;
  const IpAddress& to = flow.key.local;
  if (sums_ == Sums::kLeft && segment.payload_size > 0) {
    store_u16(checksum, wire::pseudo_header_sum(from, to, wire::kProtocolTcp,
                                                static_cast<std::uint32_t>(tcp.size())));
    polled.checksum_from = static_cast<std::uint16_t>(headers.tcp_at);
  } else {
    store_u16(checksum, wire::transport_checksum(from, to, wire::kProtocolTcp, tcp));
  }
  return polled;
}

}  // namespace satrelay::gateway
