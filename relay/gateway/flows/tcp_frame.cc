#include "relay/gateway/flows/tcp_frame.h"

#include <cstring>

#include "pep/base/check.h"
#include "pep/wire/checksum.h"
#include "pep/wire/ip.h"
#include "pep/wire/tcp.h"

namespace satrelay::gateway {

Polled TcpFrames::write(const Flow& flow, const tcp::SegmentToSend& segment, MutableBytes out) {
  wire::TcpHeader tcp = segment.header;
  tcp.source_port = flow.key.remote_port;
  tcp.destination_port = flow.key.local_port;
  const std::size_t tcp_size = wire::tcp_header_size(tcp) + segment.payload_size;

  wire::IpHeader ip;
  ip.source = flow.key.remote;
  ip.destination = flow.key.local;
  ip.protocol = wire::kProtocolTcp;
  // DSCP as the far host set it, ECN of this endpoint.
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
  tcp_at_ = ip_at + ip_size;
  size_ = tcp_at_ + wire::write_tcp(tcp, out.subspan(tcp_at_, tcp_size));
  payload_size_ = segment.payload_size;
  ecn_ = segment.ecn;
  std::memcpy(headers_.data(), out.data(), size_);
  return finish(flow, segment, out);
}

Polled TcpFrames::write_next(const Flow& flow, const tcp::SegmentToSend& segment,
                             MutableBytes out) {
  if (segment.payload_size != payload_size_ || segment.ecn != ecn_) {
    return write(flow, segment, out);
  }
  SATRELAY_CHECK(size_ + payload_size_ <= out.size());
  std::memcpy(out.data(), headers_.data(), size_);
  store_u32(out.data() + tcp_at_ + wire::kTcpSequenceOffset, segment.header.sequence);
  store_u8(out.data() + tcp_at_ + wire::kTcpFlagsOffset, segment.header.flags);
  return finish(flow, segment, out);
}

// The headers are written, except for the checksum.
Polled TcpFrames::finish(const Flow& flow, const tcp::SegmentToSend& segment,
                         MutableBytes out) const {
  const std::size_t size = size_ + segment.payload_size;
  if (segment.payload_size > 0) {  // a pure ACK has no payload offset
    flow.endpoint.copy_payload(segment.payload_offset, out.subspan(size_, segment.payload_size));
  }
  const MutableBytes tcp = out.subspan(tcp_at_, size - tcp_at_);
  Polled polled{.kind = Polled::Kind::kWritten, .size = size};
  std::byte* const checksum = tcp.data() + wire::kTcpChecksumOffset;
  const IpAddress& from = flow.key.remote;
  const IpAddress& to = flow.key.local;
  if (sums_ == Sums::kLeft && segment.payload_size > 0) {
    store_u16(checksum, wire::pseudo_header_sum(from, to, wire::kProtocolTcp,
                                                static_cast<std::uint32_t>(tcp.size())));
    polled.checksum_from = static_cast<std::uint16_t>(tcp_at_);
  } else {
    store_u16(checksum, wire::transport_checksum(from, to, wire::kProtocolTcp, tcp));
  }
  return polled;
}

}  // namespace satrelay::gateway
