#include "pep/wire/coalescer.h"

#include <algorithm>
#include <cstring>

#include "pep/wire/checksum.h"
#include "pep/wire/ethernet.h"
#include "pep/wire/ip.h"
#include "pep/wire/tcp.h"
#include "pep/wire/udp.h"

namespace satrelay::wire {
namespace {

// The large frame is one IP packet, and Linux accepts less than 64 KiB including the Ethernet
// header. Few kernels accept more than 64 pieces of UDP.
constexpr std::size_t kMaxFrame = 65535;
constexpr std::size_t kMostPieces = 64;
constexpr std::size_t kShortest = kEthernetHeaderSize + kIpv4HeaderSize + kUdpHeaderSize;
constexpr std::uint8_t kEndsWhole = TcpFlags::kPsh | TcpFlags::kFin;
constexpr std::uint8_t kNeverPiece =
    TcpFlags::kSyn | TcpFlags::kRst | TcpFlags::kUrg | TcpFlags::kCwr;

bool same_bytes(const std::byte* a, const std::byte* b, std::size_t size) {
  return std::memcmp(a, b, size) == 0;
}

// Size of the IP header. 0 for IPv4 with options, and for other protocols than IPv4 and IPv6.
std::size_t ip_header_size(std::uint16_t type, std::uint8_t first_octet) {
  if (type == static_cast<std::uint16_t>(EtherType::kIpv4) && first_octet == 0x45) {
    return kIpv4HeaderSize;
  }
  const bool is_v6 = type == static_cast<std::uint16_t>(EtherType::kIpv6);
  return is_v6 && first_octet >> 4 == 6 ? kIpv6HeaderSize : 0;
}

IpAddress address_at(const std::byte* p, bool is_v4) {
  std::array<std::uint8_t, 16> octets{};
  std::memcpy(octets.data(), p, is_v4 ? 4 : 16);
  if (!is_v4) return IpAddress::v6(octets);
  return IpAddress::v4({octets[0], octets[1], octets[2], octets[3]});
}

}  // namespace

bool Coalescer::look_at(ConstBytes frame, Origin origin, View& view) {
  if (origin == Origin::kUnchecked || frame.size() < kShortest) return false;
  const std::byte* p = frame.data();
  std::size_t at = 12;
  std::uint16_t type = load_u16(p + at);
  for (std::size_t tags = 0; tags < kMaxVlanTags; ++tags) {
    if (type != static_cast<std::uint16_t>(EtherType::kVlan) &&
        type != static_cast<std::uint16_t>(EtherType::kServiceVlan)) {
      break;
    }
    at += 4;
    type = load_u16(p + at);
  }
  const std::size_t ip_at = at + 2;
  const std::size_t ip_header = ip_header_size(type, load_u8(p + ip_at));
  if (ip_header == 0 || frame.size() < ip_at + ip_header + kUdpHeaderSize) return false;
  const std::byte* ip = p + ip_at;
  view.is_v4 = ip_header == kIpv4HeaderSize;
  std::size_t ip_size = 0;
  std::uint8_t protocol = 0;
  if (view.is_v4) {
    constexpr std::uint16_t kFragmentBits = 0x3fff;
    if ((load_u16(ip + 6) & kFragmentBits) != 0) return false;
    if (checksum_sum(frame.subspan(ip_at, kIpv4HeaderSize)) != 0xffff) return false;
    ip_size = load_u16(ip + 2);
    view.identification = load_u16(ip + 4);
    protocol = load_u8(ip + 9);
  } else {
    ip_size = kIpv6HeaderSize + load_u16(ip + 4);
    protocol = load_u8(ip + 6);
  }
  // A large frame has no place for bytes after the IP packet of a piece, such as padding.
  if (ip_size != frame.size() - ip_at) return false;
  const std::byte* transport = ip + ip_header;
  const std::size_t room = ip_size - ip_header;
  std::size_t header = kUdpHeaderSize;
  if (protocol == kProtocolTcp) {
    if (room < kTcpHeaderSize) return false;
    header = std::size_t{load_u8(transport + 12)} >> 4 << 2;
    view.protocol = SegmentedProtocol::kTcp;
    view.sequence = load_u32(transport + 4);
    view.flags = load_u8(transport + 13);
    if (header < kTcpHeaderSize || (view.flags & kNeverPiece) != 0) return false;
  } else if (protocol == kProtocolUdp) {
    view.protocol = SegmentedProtocol::kUdp;
    view.flags = 0;
    if (load_u16(transport + 4) != room) return false;
    // Segmentation adds a checksum to each piece. So a received datagram without a checksum is not
    // joined, because its piece would differ. Our own datagrams may get a checksum.
    if (load_u16(transport + kUdpChecksumOffset) == 0 && origin != Origin::kOwn) return false;
  } else {
    return false;
  }
  if (room <= header) return false;
  view.ip_at = static_cast<std::uint8_t>(ip_at);
  view.transport_at = static_cast<std::uint8_t>(ip_at + ip_header);
  view.payload_at = static_cast<std::uint8_t>(ip_at + ip_header + header);
  view.payload_size = static_cast<std::uint16_t>(room - header);
  return true;
}

bool Coalescer::begin(ConstBytes frame, Origin origin) {
  count_ = 0;
  closed_ = true;
  if (!look_at(frame, origin, first_)) return false;
  frame_ = frame;
  origin_ = origin;
  count_ = 1;
  payload_size_ = first_.payload_size;
  last_flags_ = first_.flags;
  closed_ = (first_.flags & kEndsWhole) != 0;
  return !closed_;
}

// Compares all bytes that segmentation copies from the header of the large frame to each piece:
// everything except lengths, identification, sequence number, checksums and the flags that only the
// last piece may have.
bool Coalescer::has_same_header(ConstBytes frame) const {
  const std::byte* a = frame_.data();
  const std::byte* b = frame.data();
  const std::size_t ip = first_.ip_at;
  const std::size_t transport = first_.transport_at;
  if (first_.is_v4) {
    // TOS; fragment bits, TTL, protocol; addresses.
    if (!same_bytes(a, b, ip + 2) || !same_bytes(a + ip + 6, b + ip + 6, 4) ||
        !same_bytes(a + ip + 12, b + ip + 12, 8)) {
      return false;
    }
  } else if (!same_bytes(a, b, ip + 4) || !same_bytes(a + ip + 6, b + ip + 6, 34)) {
    return false;
  }
  if (!same_bytes(a + transport, b + transport, 4)) return false;  // ports
  if (first_.protocol == SegmentedProtocol::kUdp) return true;
  // Acknowledgment, data offset; window; urgent pointer and options.
  return same_bytes(a + transport + 8, b + transport + 8, 5) &&
         same_bytes(a + transport + 14, b + transport + 14, 2) &&
         same_bytes(a + transport + 18, b + transport + 18,
                    static_cast<std::size_t>(first_.payload_at) - transport - 18);
}

bool Coalescer::add(ConstBytes frame, Origin origin) {
  if (closed_ || origin != origin_ || count_ == kMostPieces) return false;
  View next;
  if (!look_at(frame, origin, next)) return false;
  if (next.protocol != first_.protocol || next.is_v4 != first_.is_v4 ||
      next.ip_at != first_.ip_at || next.payload_at != first_.payload_at ||
      next.payload_size > first_.payload_size || size() + next.payload_size > kMaxFrame ||
      (next.flags | kEndsWhole) != (first_.flags | kEndsWhole) || !has_same_header(frame)) {
    return false;
  }
  if (first_.protocol == SegmentedProtocol::kTcp &&
      next.sequence != first_.sequence + static_cast<std::uint32_t>(payload_size_)) {
    return false;
  }
  if (first_.is_v4) {
    const bool counts_on =
        next.identification == static_cast<std::uint16_t>(first_.identification + count_);
    // If the DF bit is set, the identification has no meaning (RFC 6864), and this program sets it
    // to zero.
    const bool says_nothing = origin == Origin::kOwn && next.identification == 0 &&
                              first_.identification == 0 &&
                              (load_u8(frame.data() + first_.ip_at + 6) & 0x40) != 0;
    if (!counts_on && !says_nothing) return false;
  }
  ++count_;
  payload_size_ += next.payload_size;
  last_flags_ = next.flags;
  closed_ = next.payload_size < first_.payload_size || (next.flags & kEndsWhole) != 0;
  return true;
}

void Coalescer::write_header(MutableBytes out) const {
  std::copy_n(frame_.begin(), first_.payload_at, out.begin());
  std::byte* ip = out.data() + first_.ip_at;
  std::byte* transport = out.data() + first_.transport_at;
  const std::size_t segment = size() - first_.transport_at;
  const std::size_t from = first_.is_v4 ? 12 : 8;
  const std::size_t to = first_.is_v4 ? 16 : 24;
  if (first_.is_v4) {
    store_u16(ip + 2, static_cast<std::uint16_t>(size() - first_.ip_at));
    store_u16(ip + 10, 0);
    const std::uint16_t sum = checksum_sum(out.subspan(first_.ip_at, kIpv4HeaderSize));
    store_u16(ip + 10, static_cast<std::uint16_t>(~sum));
  } else {
    store_u16(ip + 4, static_cast<std::uint16_t>(segment));
  }
  const bool is_tcp = first_.protocol == SegmentedProtocol::kTcp;
  const std::uint16_t pseudo =
      pseudo_header_sum(address_at(ip + from, first_.is_v4), address_at(ip + to, first_.is_v4),
                        is_tcp ? kProtocolTcp : kProtocolUdp, static_cast<std::uint32_t>(segment));
  if (is_tcp) {
    store_u8(transport + 13, static_cast<std::uint8_t>(first_.flags | last_flags_));
    store_u16(transport + kTcpChecksumOffset, pseudo);
  } else {
    store_u16(transport + 4, static_cast<std::uint16_t>(segment));
    store_u16(transport + kUdpChecksumOffset, pseudo);
  }
}

}  // namespace satrelay::wire
