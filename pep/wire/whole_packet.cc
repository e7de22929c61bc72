#include "pep/wire/whole_packet.h"

#include "pep/wire/checksum.h"
#include "pep/wire/extension_headers.h"

namespace satrelay::wire {
namespace {

constexpr std::size_t kTotalLengthAt = 2;     // in an IPv4 header
constexpr std::size_t kIdentificationAt = 4;  // in an IPv4 header
constexpr std::size_t kHeaderChecksumAt = 10;
constexpr std::size_t kPayloadLengthAt = 4;  // in an IPv6 header

}  // namespace

std::optional<WholePacket> parse_whole_packet(ConstBytes bytes, EtherType type) {
  const auto ip = parse_ip(bytes);
  if (!ip || ip->is_fragment()) return std::nullopt;
  if (type != (ip->source.is_v4() ? EtherType::kIpv4 : EtherType::kIpv6)) return std::nullopt;
  WholePacket packet{.ip = *ip,
                     .protocol = ip->protocol,
                     .transport_at = ip->header_size,
                     .size = std::size_t{ip->header_size} + ip->payload_size};
  if (!ip->source.is_v4() && is_extension_header(ip->protocol)) {
    const auto extensions =
        walk_extension_headers(ip->protocol, bytes.subspan(ip->header_size, ip->payload_size));
    if (extensions.fragment || extensions.segments_left ||
        extensions.end != ExtensionHeaders::End::kTransport) {
      return std::nullopt;
    }
    packet.protocol = extensions.protocol;
    packet.transport_at += extensions.size;
  }
  return packet;
}

void fit_ip_header(MutableBytes packet, std::uint16_t number) {
  std::byte* ip = packet.data();
  if (load_u8(ip) >> 4 == 6) {
    store_u16(ip + kPayloadLengthAt, static_cast<std::uint16_t>(packet.size() - kIpv6HeaderSize));
    return;
  }
  const std::size_t header_size = std::size_t{load_u8(ip) & 0x0fU} * 4;
  store_u16(ip + kTotalLengthAt, static_cast<std::uint16_t>(packet.size()));
  store_u16(ip + kIdentificationAt,
            static_cast<std::uint16_t>(load_u16(ip + kIdentificationAt) + number));
  store_u16(ip + kHeaderChecksumAt, 0);
  const std::uint16_t sum = checksum_sum(packet.first(header_size));
  store_u16(ip + kHeaderChecksumAt, static_cast<std::uint16_t>(~sum));
}

}  // namespace satrelay::wire
