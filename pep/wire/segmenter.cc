#include "pep/wire/segmenter.h"

#include <algorithm>

#include "pep/wire/checksum.h"
#include "pep/wire/ip.h"
#include "pep/wire/tcp.h"
#include "pep/wire/udp.h"
#include "pep/wire/whole_packet.h"

namespace satrelay::wire {
namespace {

constexpr std::size_t kSequenceAt = 4;  // in a TCP header
constexpr std::size_t kDataOffsetAt = 12;
constexpr std::size_t kFlagsAt = 13;

// Size of the transport header; 0 if the header is malformed.
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
  if (!ethernet) return std::nullopt;
  return of_packet(frame, ethernet->size(), ethernet->type, protocol, segment_size);
}

std::optional<Segmenter> Segmenter::of(ConstBytes frame, const Tunnel& tunnel,
                                       SegmentedProtocol protocol, std::size_t segment_size) {
  auto result = of_packet(frame, tunnel.inner_at(), tunnel.inner_type(), protocol, segment_size);
  if (result) result->tunnel_ = tunnel;
  return result;
}

std::optional<Segmenter> Segmenter::of_packet(ConstBytes frame, std::size_t ip_at, EtherType type,
                                              SegmentedProtocol protocol,
                                              std::size_t segment_size) {
  const auto packet = parse_whole_packet(frame.subspan(ip_at), type);
  if (!packet || segment_size == 0) return std::nullopt;
  if (packet->protocol != (protocol == SegmentedProtocol::kTcp ? kProtocolTcp : kProtocolUdp)) {
    return std::nullopt;
  }
  Segmenter result;
  result.protocol_ = protocol;
  result.source_ = packet->ip.source;
  result.destination_ = packet->ip.destination;
  result.ip_at_ = ip_at;
  result.transport_at_ = ip_at + packet->transport_at;
  result.frame_ = frame.first(ip_at + packet->size);
  const std::size_t header =
      transport_header_size(protocol, result.frame_.subspan(result.transport_at_));
  result.payload_at_ = result.transport_at_ + header;
  if (header == 0 || result.payload_at_ == result.frame_.size()) return std::nullopt;
  result.payload_size_ = result.frame_.size() - result.payload_at_;
  result.segment_size_ = segment_size;
  if (result.payload_size_ > kMostPieces * segment_size) return std::nullopt;
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

std::size_t Segmenter::longest_packet() const {
  return longest() - (tunnel_ ? tunnel_->outer_at() : ip_at_);
}

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

  fit_ip_header(out.subspan(ip_at_), count_);
  const MutableBytes segment = out.subspan(transport_at_);
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
    store_u16(transport + kUdpLengthOffset, static_cast<std::uint16_t>(segment.size()));
    store_u16(transport + kUdpChecksumOffset, 0);
    const std::uint16_t sum = transport_checksum(source_, destination_, kProtocolUdp, segment);
    store_u16(transport + kUdpChecksumOffset, sum == 0 ? std::uint16_t{0xffff} : sum);
  }
  if (tunnel_) tunnel_->fit_headers(out, count_);
  written_ += size;
  ++count_;
}

}  // namespace satrelay::wire
