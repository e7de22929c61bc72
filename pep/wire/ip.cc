#include "pep/wire/ip.h"

#include "pep/base/check.h"
#include "pep/wire/checksum.h"

namespace satrelay::wire {

namespace {

constexpr std::uint16_t kDontFragment = 0x4000;
constexpr std::uint16_t kMoreFragments = 0x2000;
constexpr std::uint16_t kFragmentOffsetMask = 0x1fff;  // in units of eight octets

IpAddress load_v4(const std::byte* p) {
  std::array<std::uint8_t, 4> octets;
  std::memcpy(octets.data(), p, octets.size());
  return IpAddress::v4(octets);
}

IpAddress load_v6(const std::byte* p) {
  std::array<std::uint8_t, 16> octets;
  std::memcpy(octets.data(), p, octets.size());
  return IpAddress::v6(octets);
}

void store_address(std::byte* p, const IpAddress& address) {
  std::memcpy(p, address.octets().data(), address.size());
}

// RFC 791 section 3.1:
//    0                   1                   2                   3
//    0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//   |Version|  IHL  |Type of Service|          Total Length         |
//   |         Identification        |Flags|      Fragment Offset    |
//   |  Time to Live |    Protocol   |         Header Checksum       |
//   |                       Source Address                          |
//   |                    Destination Address                        |
//   |                       [Options]                               |
bool parse_v4(ConstBytes packet, IpHeader& header) {
  if (packet.size() < kIpv4HeaderSize) return false;
  const std::byte* p = packet.data();
  const std::size_t header_size = std::size_t{load_u8(p) & 0x0fU} * 4;
  const std::size_t total_size = load_u16(p + 2);
  if (header_size < kIpv4HeaderSize || total_size < header_size || total_size > packet.size()) {
    return false;
  }
  if (checksum_sum(packet.first(header_size)) != 0xffff) return false;
  const std::uint16_t fragment = load_u16(p + 6);
  header.source = load_v4(p + 12);
  header.destination = load_v4(p + 16);
  header.protocol = load_u8(p + 9);
  header.traffic_class = load_u8(p + 1);
  header.hop_limit = load_u8(p + 8);
  header.identification = load_u16(p + 4);
  header.dont_fragment = (fragment & kDontFragment) != 0;
  header.more_fragments = (fragment & kMoreFragments) != 0;
  header.fragment_offset = static_cast<std::uint16_t>((fragment & kFragmentOffsetMask) * 8);
  header.header_size = static_cast<std::uint16_t>(header_size);
  header.payload_size = static_cast<std::uint16_t>(total_size - header_size);
  return true;
}

// RFC 8200 section 3:
//   |Version| Traffic Class |           Flow Label                  |
//   |         Payload Length        |  Next Header  |   Hop Limit   |
//   |                       Source Address (16)                     |
//   |                    Destination Address (16)                   |
bool parse_v6(ConstBytes packet, IpHeader& header) {
  if (packet.size() < kIpv6HeaderSize) return false;
  const std::byte* p = packet.data();
  const std::uint32_t first = load_u32(p);
  const std::uint16_t payload_size = load_u16(p + 4);
  if (payload_size > packet.size() - kIpv6HeaderSize) return false;
  header.source = load_v6(p + 8);
  header.destination = load_v6(p + 24);
  header.protocol = load_u8(p + 6);
  header.traffic_class = static_cast<std::uint8_t>((first >> 20) & 0xffU);
  header.hop_limit = load_u8(p + 7);
  header.flow_label = first & 0xf'ffffU;
  header.header_size = kIpv6HeaderSize;
  header.payload_size = payload_size;
  return true;
}

std::size_t write_v4(const IpHeader& header, MutableBytes out) {
  SATRELAY_CHECK(out.size() >= kIpv4HeaderSize &&
                 header.payload_size <= 0xffffU - kIpv4HeaderSize &&
                 header.fragment_offset % 8 == 0);
  std::byte* p = out.data();
  std::uint16_t fragment = header.fragment_offset / 8;
  if (header.dont_fragment) fragment |= kDontFragment;
  if (header.more_fragments) fragment |= kMoreFragments;
  store_u8(p, 0x45);
  store_u8(p + 1, header.traffic_class);
  store_u16(p + 2, static_cast<std::uint16_t>(kIpv4HeaderSize + header.payload_size));
  store_u16(p + 4, header.identification);
  store_u16(p + 6, fragment);
  store_u8(p + 8, header.hop_limit);
  store_u8(p + 9, header.protocol);
  store_u16(p + 10, 0);
  store_address(p + 12, header.source);
  store_address(p + 16, header.destination);
  store_u16(p + 10, static_cast<std::uint16_t>(~checksum_sum(out.first(kIpv4HeaderSize))));
  return kIpv4HeaderSize;
}

std::size_t write_v6(const IpHeader& header, MutableBytes out) {
  SATRELAY_CHECK(out.size() >= kIpv6HeaderSize);
  std::byte* p = out.data();
  store_u32(p, 0x6000'0000U | (std::uint32_t{header.traffic_class} << 20) |
                   (header.flow_label & 0xf'ffffU));
  store_u16(p + 4, header.payload_size);
  store_u8(p + 6, header.protocol);
  store_u8(p + 7, header.hop_limit);
  store_address(p + 8, header.source);
  store_address(p + 24, header.destination);
  return kIpv6HeaderSize;
}

}  // namespace

bool parse_ip(ConstBytes packet, IpHeader& header) {
  if (packet.empty()) return false;
  switch (load_u8(packet.data()) >> 4) {
    case 4:
      return parse_v4(packet, header);
    case 6:
      return parse_v6(packet, header);
    default:
      return false;
  }
}

std::optional<IpHeader> parse_ip(ConstBytes packet) {
  std::optional<IpHeader> header(std::in_place);
  if (!parse_ip(packet, *header)) header.reset();
  return header;
}

std::size_t write_ip(const IpHeader& header, MutableBytes out) {
  SATRELAY_CHECK(header.source.version() == header.destination.version());
  return header.source.is_v4() ? write_v4(header, out) : write_v6(header, out);
}

}  // namespace satrelay::wire
