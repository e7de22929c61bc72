#include "relay/dpdk/finish_checksum.h"

#include <rte_ip.h>
#include <rte_tcp.h>
#include <rte_udp.h>

#include <cstddef>

namespace satrelay::dpdk {
namespace {

constexpr std::size_t kNotFound = 0;

// Offset of the checksum within the transport header; kNotFound for other protocols.
std::size_t checksum_offset(std::uint8_t protocol, std::size_t room) {
  if (protocol == IPPROTO_TCP && room >= sizeof(rte_tcp_hdr)) return offsetof(rte_tcp_hdr, cksum);
  if (protocol == IPPROTO_UDP && room >= sizeof(rte_udp_hdr)) {
    return offsetof(rte_udp_hdr, dgram_cksum);
  }
  return kNotFound;
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
  if (offset == kNotFound) return false;
  std::byte* transport = packet.data() + header;
  store_u16(transport + offset, 0);
  const std::uint16_t sum = rte_ipv4_udptcp_cksum(ip, transport);
  std::memcpy(transport + offset, &sum, sizeof sum);  // already in network order
  return true;
}

bool finish_v6(MutableBytes packet, std::size_t start) {
  if (packet.size() < sizeof(rte_ipv6_hdr)) return false;
  auto* ip = reinterpret_cast<rte_ipv6_hdr*>(packet.data());
  const std::size_t payload = load_u16(packet.data() + offsetof(rte_ipv6_hdr, payload_len));
  if (sizeof(rte_ipv6_hdr) + payload > packet.size() ||
      (start != kAnywhere && start != sizeof(rte_ipv6_hdr))) {
    return false;
  }
  const std::size_t offset = checksum_offset(ip->proto, payload);
  if (offset == kNotFound) return false;
  std::byte* transport = packet.data() + sizeof(rte_ipv6_hdr);
  store_u16(transport + offset, 0);
  const std::uint16_t sum = rte_ipv6_udptcp_cksum(ip, transport);
  std::memcpy(transport + offset, &sum, sizeof sum);
  return true;
}

}  // namespace

bool finish_checksum_at(MutableBytes frame, std::size_t start, std::size_t offset) {
  const bool is_udp = offset == offsetof(rte_udp_hdr, dgram_cksum);
  if (!is_udp && offset != offsetof(rte_tcp_hdr, cksum)) return false;
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
