#include "relay/dpdk/socket/finish_checksum.h"

#include <rte_hash_crc.h>
#include <rte_ip.h>
#include <rte_tcp.h>
#include <rte_udp.h>

#include <cstddef>

#include "pep/wire/extension_headers.h"

namespace satrelay::dpdk {
namespace {

constexpr std::size_t kNotFound = 0;
// Offsets of the checksum fields in the SCTP and GRE headers. TCP and UDP have other offsets, so
// the offset of a checksum identifies its protocol.
constexpr std::size_t kSctpChecksum = 8;
constexpr std::size_t kGreChecksum = 4;

// Offset of the checksum within the transport header; kNotFound for other protocols.
std::size_t checksum_offset(std::uint8_t protocol, std::size_t room) {
  if (protocol == IPPROTO_TCP && room >= sizeof(rte_tcp_hdr)) return offsetof(rte_tcp_hdr, cksum);
  if (protocol == IPPROTO_UDP && room >= sizeof(rte_udp_hdr)) {
    return offsetof(rte_udp_hdr, dgram_cksum);
  }
  return kNotFound;
}

// True if the options contain a source route. The checksum then covers the final destination, which
// is not the destination in the header.
bool is_source_routed(ConstBytes options) {
  constexpr std::uint8_t kEnd = 0, kNothing = 1, kLoose = 131,
                         kStrict = 137;  // RFC 791 section 3.1
  while (!options.empty()) {
    const std::uint8_t kind = load_u8(options.data());
    if (kind == kEnd) return false;
    if (kind == kLoose || kind == kStrict) return true;
    const std::size_t size = kind == kNothing ? 1 : options.size() < 2 ? 0 : load_u8(&options[1]);
    if (size == 0 || size > options.size()) return false;
    options = options.subspan(size);
  }
  return false;
}

bool finish_v4(MutableBytes packet, std::size_t start) {
  if (packet.size() < sizeof(rte_ipv4_hdr)) return false;
  auto* ip = reinterpret_cast<rte_ipv4_hdr*>(packet.data());
  const std::size_t header = rte_ipv4_hdr_len(ip);
  const std::size_t total = load_u16(packet.data() + offsetof(rte_ipv4_hdr, total_length));
  const bool is_fragment = (load_u16(packet.data() + 6) & 0x3fffU) != 0;
  if (header < sizeof(rte_ipv4_hdr) || total < header || total > packet.size() || is_fragment ||
      (start != kAnywhere && start != header)) {
    return false;
  }
  const std::size_t offset = checksum_offset(ip->next_proto_id, total - header);
  const ConstBytes options = packet.subspan(sizeof(rte_ipv4_hdr), header - sizeof(rte_ipv4_hdr));
  if (offset == kNotFound || is_source_routed(options)) return false;
  std::byte* transport = packet.data() + header;
  store_u16(transport + offset, 0);
  const std::uint16_t sum = rte_ipv4_udptcp_cksum(ip, transport);
  std::memcpy(transport + offset, &sum, sizeof sum);  // already in network order
  return true;
}

bool finish_v6(MutableBytes packet, std::size_t start) {
  if (packet.size() < sizeof(rte_ipv6_hdr)) return false;
  auto* ip = reinterpret_cast<rte_ipv6_hdr*>(packet.data());
  const std::size_t size = load_u16(packet.data() + offsetof(rte_ipv6_hdr, payload_len));
  if (sizeof(rte_ipv6_hdr) + size > packet.size()) return false;
  const MutableBytes payload = packet.subspan(sizeof(rte_ipv6_hdr), size);
  const auto extensions = wire::walk_extension_headers(ip->proto, payload);
  const bool is_fragment = extensions.fragment && !extensions.fragment->is_atomic();
  const std::size_t header = sizeof(rte_ipv6_hdr) + extensions.size;
  if (extensions.end != wire::ExtensionHeaders::End::kTransport || extensions.segments_left ||
      is_fragment || (start != kAnywhere && start != header)) {
    return false;
  }
  const MutableBytes transport = payload.subspan(extensions.size);
  const std::size_t offset = checksum_offset(extensions.protocol, transport.size());
  if (offset == kNotFound) return false;
  // The pseudo-header has the protocol and the size of the data behind the extension headers (RFC
  // 8200 section 8.1).
  rte_ipv6_hdr pseudo = *ip;
  pseudo.proto = extensions.protocol;
  pseudo.payload_len = rte_cpu_to_be_16(static_cast<std::uint16_t>(transport.size()));
  store_u16(transport.data() + offset, 0);
  const std::uint16_t sum = rte_ipv6_udptcp_cksum(&pseudo, transport.data());
  std::memcpy(transport.data() + offset, &sum, sizeof sum);
  return true;
}

// SCTP has a CRC32C instead of a sum, without a pseudo-header. The CRC covers the whole packet,
// with zero in the checksum field, and is stored with the low octet first (RFC 9260 section 6.8 and
// appendix A).
void finish_sctp(MutableBytes packet) {
  std::byte* const field = packet.data() + kSctpChecksum;
  std::memset(field, 0, sizeof(std::uint32_t));
  const std::uint32_t crc =
      ~rte_hash_crc(packet.data(), static_cast<std::uint32_t>(packet.size()), 0xffff'ffffU);
  const std::uint32_t stored = rte_cpu_to_le_32(crc);
  std::memcpy(field, &stored, sizeof stored);
}

}  // namespace

bool finish_checksum_at(MutableBytes frame, std::size_t start, std::size_t offset) {
  if (offset == kSctpChecksum && start + offset + sizeof(std::uint32_t) <= frame.size()) {
    finish_sctp(frame.subspan(start));
    return true;
  }
  const bool is_udp = offset == offsetof(rte_udp_hdr, dgram_cksum);
  if (!is_udp && offset != offsetof(rte_tcp_hdr, cksum) && offset != kGreChecksum) return false;
  if (start + offset + 2 > frame.size()) return false;
  std::byte* transport = frame.data() + start;
  const auto sum = static_cast<std::uint16_t>(~rte_raw_cksum(transport, frame.size() - start));
  const std::uint16_t field = is_udp && sum == 0 ? std::uint16_t{0xffff} : sum;
  std::memcpy(transport + offset, &field, sizeof field);
  return true;
}

bool finish_checksum(MutableBytes frame, std::size_t start) {
  std::size_t offset = 12;
  for (int tags = 0; tags <= 2; ++tags) {
    if (frame.size() < offset + 2) return false;
    const std::uint16_t type = load_u16(frame.data() + offset);
    const std::size_t ip = offset + 2;
    if (start != kAnywhere && start <= ip) return false;
    const std::size_t start_in_ip = start == kAnywhere ? kAnywhere : start - ip;
    if (type == 0x0800) return finish_v4(frame.subspan(ip), start_in_ip);
    if (type == 0x86dd) return finish_v6(frame.subspan(ip), start_in_ip);
    if (type != 0x8100 && type != 0x88a8) return false;
    offset += 4;
  }
  return false;
}

bool finish_left_checksum(Packet& packet) {
  const std::size_t from = packet.checksum_from();
  if (from == 0) return false;
  finish_checksum_at(packet.mutable_bytes(), from, offsetof(rte_tcp_hdr, cksum));
  packet.keep_checksum();
  return true;
}

}  // namespace satrelay::dpdk
