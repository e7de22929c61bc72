#include "pep/wire/tunnel.h"

#include "pep/wire/checksum.h"
#include "pep/wire/udp.h"
#include "pep/wire/whole_packet.h"

namespace satrelay::wire {
namespace {

constexpr std::uint8_t kProtocolIpv4 = 4;
constexpr std::uint8_t kProtocolIpv6 = 41;
constexpr std::uint8_t kProtocolGre = 47;
constexpr auto kBridgedEthernet = EtherType{0x6558};

// RFC 2784 section 2.1, RFC 2890 section 2:
//   |C| |K|S| Reserved0 (9)     | Ver |         Protocol Type         |
//   |      Checksum (optional)      |       Reserved1 (Optional)      |
//   |                         Key (optional)                          |
//   |                 Sequence Number (Optional)                      |
constexpr std::size_t kGreHeaderSize = 4;
constexpr std::size_t kGreOptionSize = 4;
constexpr std::uint16_t kGreChecksum = 0x8000;
constexpr std::uint16_t kGreKey = 0x2000;
constexpr std::uint16_t kGreSequence = 0x1000;

constexpr std::size_t kVxlanHeaderSize = 8;
constexpr std::uint32_t kVxlanHasNetwork = 0x0800'0000;
// The reserved bits of the group policy extension are accepted, too, because they are only copied
// (draft-smith-vxlan-group-policy).
constexpr std::uint32_t kVxlanKnown = kVxlanHasNetwork | 0x8048'ffff;

constexpr std::size_t kGeneveHeaderSize = 8;
constexpr std::size_t kGueHeaderSize = 4;

std::size_t gre_options(std::uint16_t flags, std::uint16_t which) {
  std::size_t size = 0;
  for (const std::uint16_t flag : {kGreChecksum, kGreKey, kGreSequence}) {
    if ((flags & which & flag) != 0) size += kGreOptionSize;
  }
  return size;
}

void fit_gre(MutableBytes packet, std::uint16_t number) {
  const std::uint16_t flags = load_u16(packet.data());
  if ((flags & kGreSequence) != 0) {
    std::byte* sequence =
        packet.data() + kGreHeaderSize + gre_options(flags, kGreChecksum | kGreKey);
    store_u32(sequence, load_u32(sequence) + number);
  }
  if ((flags & kGreChecksum) != 0) {
    std::byte* checksum = packet.data() + kGreHeaderSize;
    store_u16(checksum, 0);
    store_u16(checksum, static_cast<std::uint16_t>(~checksum_sum(packet)));
  }
}

void fit_udp(MutableBytes datagram, const IpAddress& source, const IpAddress& destination) {
  std::byte* header = datagram.data();
  store_u16(header + kUdpLengthOffset, static_cast<std::uint16_t>(datagram.size()));
  if (load_u16(header + kUdpChecksumOffset) == 0) return;  // RFC 7348 section 5, RFC 6935
  store_u16(header + kUdpChecksumOffset, 0);
  const std::uint16_t sum = transport_checksum(source, destination, kProtocolUdp, datagram);
  store_u16(header + kUdpChecksumOffset, sum == 0 ? std::uint16_t{0xffff} : sum);
}

}  // namespace

// Each function tells whether the header at `at` leads to the inner packet. If it does, the offsets
// of the headers on the way are stored in `found_`.
class Tunnel::Search {
 public:
  Search(Tunnel& found, ConstBytes packet_end, std::size_t transport_at)
      : found_(found), frame_(packet_end), transport_at_(transport_at) {}

  bool protocol(std::uint8_t number, std::size_t at) {
    switch (number) {
      case kProtocolIpv4:
        return packet(EtherType::kIpv4, at);
      case kProtocolIpv6:
        return packet(EtherType::kIpv6, at);
      case kProtocolGre:
        return gre(at);
      default:
        return false;
    }
  }

  bool udp(std::size_t at) {
    if (room(at) < kUdpHeaderSize) return false;
    if (load_u16(frame_.data() + at + kUdpLengthOffset) != room(at)) return false;
    found_.udp_at_ = at;
    const std::size_t payload = at + kUdpHeaderSize;
    return vxlan(payload) || geneve(payload) || gue(payload) || protocol(kProtocolIpv4, payload) ||
           protocol(kProtocolIpv6, payload) || protocol(kProtocolGre, payload);
  }

 private:
  std::size_t room(std::size_t at) const { return frame_.size() - at; }

  // If the packet has another type or size, or its transport header is not at transport_at_, the
  // tunnel is of another kind.
  bool packet(EtherType type, std::size_t at) {
    if (at >= transport_at_) return false;
    const auto inner = parse_whole_packet(frame_.subspan(at), type);
    if (!inner || inner->size != room(at) || at + inner->transport_at != transport_at_)
      return false;
    found_.inner_at_ = at;
    found_.inner_type_ = type;
    return true;
  }

  bool typed(EtherType type, std::size_t at) {
    if (type != kBridgedEthernet) return packet(type, at);
    const auto ethernet = parse_ethernet(frame_.subspan(at));
    return ethernet && packet(ethernet->type, at + ethernet->size());
  }

  bool gre(std::size_t at) {
    if (room(at) < kGreHeaderSize) return false;
    const std::uint16_t flags = load_u16(frame_.data() + at);
    constexpr std::uint16_t kKnown = kGreChecksum | kGreKey | kGreSequence;
    const std::size_t size = kGreHeaderSize + gre_options(flags, kKnown);
    if ((flags & ~kKnown) != 0 || size > room(at)) return false;
    if (!typed(EtherType{load_u16(frame_.data() + at + 2)}, at + size)) return false;
    found_.gre_at_ = at;
    return true;
  }

  bool vxlan(std::size_t at) {
    if (room(at) < kVxlanHeaderSize) return false;
    // Other flags announce a protocol other than Ethernet, or say which side completes the inner
    // checksum.
    const std::uint32_t flags = load_u32(frame_.data() + at);
    return (flags & kVxlanHasNetwork) != 0 && (flags & ~kVxlanKnown) == 0 &&
           typed(kBridgedEthernet, at + kVxlanHeaderSize);
  }

  bool geneve(std::size_t at) {
    if (room(at) < kGeneveHeaderSize) return false;
    const std::byte* header = frame_.data() + at;
    constexpr std::uint8_t kVersion = 0xc0;
    constexpr std::uint8_t kControl = 0x80;
    const std::size_t size =
        kGeneveHeaderSize + std::size_t{load_u8(header) & 0x3fU} * 4;  // with its options
    return (load_u8(header) & kVersion) == 0 && (load_u8(header + 1) & kControl) == 0 &&
           size <= room(at) && typed(EtherType{load_u16(header + 2)}, at + size);
  }

  bool gue(std::size_t at) {
    if (room(at) < kGueHeaderSize) return false;
    const std::byte* header = frame_.data() + at;
    constexpr std::uint8_t kVersionAndControl = 0xe0;
    const std::size_t size =
        kGueHeaderSize + std::size_t{load_u8(header) & 0x1fU} * 4;  // with its options
    // A flag may say which side completes the inner checksum, or that there is a second checksum.
    return (load_u8(header) & kVersionAndControl) == 0 && load_u16(header + 2) == 0 &&
           size <= room(at) && protocol(load_u8(header + 1), at + size);
  }

  Tunnel& found_;
  ConstBytes frame_;  // to the end of the outer packet
  std::size_t transport_at_;
};

std::optional<Tunnel> Tunnel::around(ConstBytes frame, std::size_t transport_at) {
  const auto ethernet = parse_ethernet(frame);
  if (!ethernet) return std::nullopt;
  const auto outer = parse_whole_packet(frame.subspan(ethernet->size()), ethernet->type);
  if (!outer) return std::nullopt;
  Tunnel found;
  found.source_ = outer->ip.source;
  found.destination_ = outer->ip.destination;
  found.outer_at_ = ethernet->size();
  Search search(found, frame.first(found.outer_at_ + outer->size), transport_at);
  const std::size_t at = found.outer_at_ + outer->transport_at;
  const bool leads_there =
      outer->protocol == kProtocolUdp ? search.udp(at) : search.protocol(outer->protocol, at);
  if (!leads_there) return std::nullopt;
  return found;
}

void Tunnel::fit_headers(MutableBytes piece, std::uint16_t number) const {
  if (gre_at_ != 0) fit_gre(piece.subspan(gre_at_), number);
  if (udp_at_ != 0) fit_udp(piece.subspan(udp_at_), source_, destination_);
  fit_ip_header(piece.subspan(outer_at_), number);
}

}  // namespace satrelay::wire
