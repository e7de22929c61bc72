// Frames in tunnels, for tests. They are written header by header, as a sender of one packet would
// do.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "pep/base/bytes.h"
#include "pep/wire/checksum.h"
#include "pep/wire/ethernet.h"
#include "pep/wire/ip.h"
#include "pep/wire/udp.h"
#include "tests/unit/pep/wire/octets.h"

namespace satrelay::wire {

struct TunnelFrame {
  enum class Carries : std::uint8_t { kEthernet, kIpv4, kIpv6 };
  enum class Udp : std::uint8_t { kNone, kWithoutChecksum, kWithChecksum };
  // kLeft: as a sender leaves them in a frame that is to be cut.
  enum class Checksums : std::uint8_t { kLeft, kComplete };

  std::string_view name;
  Carries carries = Carries::kEthernet;
  std::string_view header;  // octets in front of the inner frame, and behind UDP if there is UDP
  Udp udp = Udp::kNone;
  std::uint8_t protocol = kProtocolUdp;    // behind the outer IP header
  bool is_v4 = true;                       // the outer IP header
  std::string_view extensions = {};        // of an outer IPv6 header; the last one names `protocol`
  std::optional<std::size_t> gre_at = {};  // in `header`
  std::uint8_t tags = 0;

  std::size_t outer_at() const { return 14U + 4U * tags; }
  std::size_t headers() const {
    return outer_at() + (is_v4 ? 20U : 40U) + octets(extensions).size() +
           (udp == Udp::kNone ? 0U : kUdpHeaderSize) + octets(header).size();
  }

  // The tunnel around `inner`, an Ethernet frame. Tunnels of IP carry only its packet. `number`
  // counts the packets of this sender.
  std::vector<std::byte> around(ConstBytes inner, std::uint16_t number, Checksums checksums) const {
    if (carries != Carries::kEthernet) inner = inner.subspan(14);
    auto tunnel = octets(header);
    tunnel.insert(tunnel.end(), inner.begin(), inner.end());
    if (gre_at) write_gre(MutableBytes(tunnel).subspan(*gre_at), number, checksums);
    const auto between = octets(extensions);
    IpHeader ip;
    ip.source = is_v4 ? IpAddress::v4({192, 0, 2, 1}) : IpAddress::v6({0xfd, 8});
    ip.destination = is_v4 ? IpAddress::v4({192, 0, 2, 2}) : IpAddress::v6({0xfd, 9});
    ip.protocol = between.empty() ? protocol : kDestinationOptions;
    ip.identification = static_cast<std::uint16_t>(0xffffU + number);
    if (udp != Udp::kNone) tunnel = datagram(ip, tunnel, checksums);
    ip.payload_size = static_cast<std::uint16_t>(between.size() + tunnel.size());

    EthernetHeader ethernet;
    ethernet.type = is_v4 ? EtherType::kIpv4 : EtherType::kIpv6;
    ethernet.tag_count = tags;
    ethernet.tags = {VlanTag{.tpid = 0x8100, .tci = 5}, VlanTag{.tpid = 0x8100, .tci = 6}};
    std::vector<std::byte> frame(ethernet.size() + kIpv6HeaderSize);
    write_ethernet(ethernet, frame);
    frame.resize(ethernet.size() + write_ip(ip, MutableBytes(frame).subspan(ethernet.size())));
    frame.insert(frame.end(), between.begin(), between.end());
    frame.insert(frame.end(), tunnel.begin(), tunnel.end());
    return frame;
  }

 private:
  static constexpr std::uint8_t kDestinationOptions = 60;

  static void write_gre(MutableBytes packet, std::uint16_t number, Checksums checksums) {
    const std::uint16_t flags = load_u16(packet.data());
    std::size_t at = 4;
    const bool has_checksum = (flags & 0x8000U) != 0;
    if (has_checksum) at += 4;
    if ((flags & 0x2000U) != 0) at += 4;
    if ((flags & 0x1000U) != 0) {
      store_u32(packet.data() + at, load_u32(packet.data() + at) + number);
    }
    if (has_checksum && checksums == Checksums::kComplete) {
      store_u16(packet.data() + 4, static_cast<std::uint16_t>(~checksum_sum(packet)));
    }
  }

  std::vector<std::byte> datagram(const IpHeader& ip, ConstBytes payload,
                                  Checksums checksums) const {
    const auto length = static_cast<std::uint16_t>(kUdpHeaderSize + payload.size());
    std::vector<std::byte> result(kUdpHeaderSize);
    write_udp({50000, 4789, length, 0}, result);
    result.insert(result.end(), payload.begin(), payload.end());
    if (udp == Udp::kWithoutChecksum) return result;
    const std::uint16_t sum =
        checksums == Checksums::kLeft
            ? pseudo_header_sum(ip.source, ip.destination, kProtocolUdp, length)
            : transport_checksum(ip.source, ip.destination, kProtocolUdp, result);
    store_u16(result.data() + kUdpChecksumOffset, sum == 0 ? std::uint16_t{0xffff} : sum);
    return result;
  }
};

// The kinds of tunnels in which frames are cut.
inline std::vector<TunnelFrame> tunnel_frames() {
  using enum TunnelFrame::Carries;
  using enum TunnelFrame::Udp;
  return {
      {"VXLAN", kEthernet, "08000000 00000500", kWithoutChecksum},
      {"VXLAN with a checksum", kEthernet, "08000000 00000500", kWithChecksum},
      {"VXLAN with a group", kEthernet, "88480042 00000500", kWithoutChecksum},
      {.name = "VXLAN over IPv6, tagged",
       .carries = kEthernet,
       .header = "08000000 00000500",
       .udp = kWithoutChecksum,
       .is_v4 = false,
       .tags = 2},
      {.name = "VXLAN over IPv6 with a checksum",
       .carries = kEthernet,
       .header = "08000000 00000500",
       .udp = kWithChecksum,
       .is_v4 = false},
      {"Geneve", kEthernet, "00006558 00000700", kWithoutChecksum},
      {"Geneve with options", kEthernet, "02406558 00000700 01028001 00000009", kWithChecksum},
      {"Geneve of IPv4", kIpv4, "00000800 00000700", kWithoutChecksum},
      {"Geneve of IPv6", kIpv6, "000086dd 00000700", kWithChecksum},
      {"GUE of IPv4", kIpv4, "00040000", kWithoutChecksum},
      {"GUE of IPv6 with a field", kIpv6, "01290000 00000001", kWithChecksum},
      {.name = "GUE of GRE with a checksum",
       .carries = kIpv4,
       .header = "002f0000 80000800 00000000",
       .udp = kWithChecksum,
       .gre_at = 4},
      {"FOU of IPv4", kIpv4, "", kWithoutChecksum},
      {"FOU of IPv6", kIpv6, "", kWithChecksum},
      {.name = "FOU of GRE",
       .carries = kIpv6,
       .header = "000086dd",
       .udp = kWithoutChecksum,
       .gre_at = 0},
      {.name = "GRE", .carries = kIpv4, .header = "00000800", .protocol = 47, .gre_at = 0},
      {.name = "GRE with a key",
       .carries = kIpv6,
       .header = "200086dd 00000005",
       .protocol = 47,
       .gre_at = 0},
      {.name = "GRE with a checksum and a key",
       .carries = kIpv4,
       .header = "a0000800 00000000 00000009",
       .protocol = 47,
       .gre_at = 0},
      {.name = "GRE with a checksum and numbers",
       .carries = kIpv4,
       .header = "90000800 00000000 ffffffff",
       .protocol = 47,
       .gre_at = 0},
      {.name = "GRE with everything, of Ethernet",
       .carries = kEthernet,
       .header = "b0006558 00000000 00000009 00000017",
       .protocol = 47,
       .gre_at = 0},
      {.name = "GRE over IPv6",
       .carries = kIpv4,
       .header = "80000800 00000000",
       .protocol = 47,
       .is_v4 = false,
       .extensions = "2f 00 04 01 04 01 01 00",
       .gre_at = 0},
      {.name = "IPIP", .carries = kIpv4, .header = "", .protocol = 4},
      {.name = "6in4", .carries = kIpv6, .header = "", .protocol = 41},
      {.name = "IPv4 in IPv6",
       .carries = kIpv4,
       .header = "",
       .protocol = 4,
       .is_v4 = false,
       .extensions = "04 00 04 01 04 01 01 00"},
      {.name = "IPv6 in IPv6", .carries = kIpv6, .header = "", .protocol = 41, .is_v4 = false},
  };
}

}  // namespace satrelay::wire
