#include "pep/wire/segmenter.h"

#include <algorithm>

#include "pep/wire/checksum.h"
#include "pep/wire/ethernet.h"
#include "pep/wire/extension_headers.h"
#include "pep/wire/ip.h"
#include "pep/wire/tcp.h"
#include "pep/wire/udp.h"

namespace satrelay::wire {
namespace {

constexpr std::size_t kTotalLengthAt = 2;     // in an IPv4 header
constexpr std::size_t kIdentificationAt = 4;  // the same
constexpr std::size_t kHeaderChecksumAt = 10;
constexpr std::size_t kPayloadLengthAt = 4;  // in an IPv6 header
constexpr std::size_t kSequenceAt = 4;       // in a TCP header
constexpr std::size_t kDataOffsetAt = 12;
constexpr std::size_t kFlagsAt = 13;
constexpr std::size_t kUdpLengthAt = 4;

// 0: impossible.
std::size_t transport_header_size(SegmentedProtocol protocol, ConstBytes transport) {
  if (protocol == SegmentedProtocol::kUdp) {
    return transport.size() < kUdpHeaderSize ? 0 : kUdpHeaderSize;
  }
  if (transport.size() < kTcpHeaderSize) return 0;
  const std::size_t size = std::size_t{load_u8(transport.data() + kDataOffsetAt)} >> 4 << 2;
  return size < kTcpHeaderSize || size > transport.size() ? 0 : size;
}

}  // namespace

std::optional<Segmenter> Segmenter::of(ConstBytes frame, SegmentedProtocol protocol,
                                       std::size_t segment_size) {
  const auto ethernet = parse_ethernet(frame);
  if (!ethernet || segment_size == 0) return std::nullopt;
  const auto ip = parse_ip(frame.subspan(ethernet->size()));
  if (!ip || ip->is_fragment()) return std::nullopt;
  if (ip->source.is_v4() != (ethernet->type == EtherType::kIpv4)) return std::nullopt;

  Segmenter result;
  result.protocol_ = protocol;
  result.source_ = ip->source;
  result.destination_ = ip->destination;
  result.ip_at_ = ethernet->size();
  result.ip_header_size_ = ip->header_size;
  result.transport_at_ = result.ip_at_ + ip->header_size;
  result.frame_ = frame.first(result.transport_at_ + ip->payload_size);
  std::uint8_t carried = ip->protocol;
  if (!ip->source.is_v4() && is_extension_header(carried)) {
    const auto extensions =
        walk_extension_headers(carried, result.frame_.subspan(result.transport_at_));
    // Behind a Routing header that names further hosts the checksum is over the last one's address.
    if (extensions.fragment || extensions.segments_left ||
        extensions.end == ExtensionHeaders::End::kUnknown) {
      return std::nullopt;
    }
    carried = extensions.protocol;
    result.transport_at_ += extensions.size;
  }
  if (carried != (protocol == SegmentedProtocol::kTcp ? kProtocolTcp : kProtocolUdp)) {
    return std::nullopt;
  }
  const std::size_t header =
      transport_header_size(protocol, result.frame_.subspan(result.transport_at_));
  result.payload_at_ = result.transport_at_ + header;
  if (header == 0 || result.payload_at_ == result.frame_.size()) return std::nullopt;
  result.payload_size_ = result.frame_.size() - result.payload_at_;
  result.segment_size_ = segment_size;
  return result;
}

bool Segmenter::fit(std::size_t mtu) {
  const std::size_t headers = payload_at_ - ip_at_;
  if (mtu < 2 * headers) return false;
  if (protocol_ == SegmentedProtocol::kTcp) {
    constexpr std::uint8_t kWhole = TcpFlags::kSyn | TcpFlags::kRst | TcpFlags::kUrg;
    if ((load_u8(frame_.data() + transport_at_ + kFlagsAt) & kWhole) != 0) return false;
  }
  segment_size_ = std::min(segment_size_, mtu - headers);
  return true;
}

bool Segmenter::checksum_is_right() const {
  const std::uint8_t protocol = protocol_ == SegmentedProtocol::kTcp ? kProtocolTcp : kProtocolUdp;
  return transport_checksum_ok(source_, destination_, protocol, frame_.subspan(transport_at_));
}

std::size_t Segmenter::longest_packet() const { return longest() - ip_at_; }

std::size_t Segmenter::longest() const {
  return payload_at_ + std::min(segment_size_, payload_size_);
}

std::size_t Segmenter::piece() const { return std::min(segment_size_, payload_size_ - written_); }

std::size_t Segmenter::next_size() const { return payload_at_ + piece(); }

void Segmenter::write_next(MutableBytes out) {
  const std::size_t size = piece();
  const bool is_first = written_ == 0;
  const bool is_last = written_ + size == payload_size_;
  std::copy_n(frame_.begin(), payload_at_, out.begin());
  std::copy_n(frame_.begin() + static_cast<std::ptrdiff_t>(payload_at_ + written_), size,
              out.begin() + static_cast<std::ptrdiff_t>(payload_at_));

  std::byte* ip = out.data() + ip_at_;
  const auto ip_payload = static_cast<std::uint16_t>(payload_at_ + size - ip_at_ - ip_header_size_);
  if (source_.is_v4()) {
    store_u16(ip + kTotalLengthAt, static_cast<std::uint16_t>(ip_payload + ip_header_size_));
    store_u16(ip + kIdentificationAt,
              static_cast<std::uint16_t>(load_u16(ip + kIdentificationAt) + count_));
    store_u16(ip + kHeaderChecksumAt, 0);
    const std::uint16_t sum = checksum_sum(out.subspan(ip_at_, ip_header_size_));
    store_u16(ip + kHeaderChecksumAt, static_cast<std::uint16_t>(~sum));
  } else {
    store_u16(ip + kPayloadLengthAt, ip_payload);
  }

  const MutableBytes segment = out.subspan(transport_at_, payload_at_ + size - transport_at_);
  std::byte* transport = segment.data();
  if (protocol_ == SegmentedProtocol::kTcp) {
    store_u32(transport + kSequenceAt,
              load_u32(transport + kSequenceAt) + static_cast<std::uint32_t>(written_));
    std::uint8_t flags = load_u8(transport + kFlagsAt);
    if (!is_first) flags &= static_cast<std::uint8_t>(~TcpFlags::kCwr);
    if (!is_last) flags &= static_cast<std::uint8_t>(~(TcpFlags::kFin | TcpFlags::kPsh));
    store_u8(transport + kFlagsAt, flags);
    store_u16(transport + kTcpChecksumOffset, 0);
    store_u16(transport + kTcpChecksumOffset,
              transport_checksum(source_, destination_, kProtocolTcp, segment));
  } else {
    store_u16(transport + kUdpLengthAt, static_cast<std::uint16_t>(segment.size()));
    store_u16(transport + kUdpChecksumOffset, 0);
    const std::uint16_t sum = transport_checksum(source_, destination_, kProtocolUdp, segment);
    store_u16(transport + kUdpChecksumOffset, sum == 0 ? std::uint16_t{0xffff} : sum);
  }
  written_ += size;
  ++count_;
}

}  // namespace satrelay::wire
