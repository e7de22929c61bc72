// Large frames for tests, as hosts with segmentation offload send them.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "pep/base/bytes.h"
#include "pep/base/random.h"
#include "pep/wire/checksum.h"
#include "pep/wire/ethernet.h"
#include "pep/wire/ip.h"
#include "pep/wire/tcp.h"
#include "pep/wire/udp.h"
#include "tests/unit/pep/wire/octets.h"

namespace satrelay::wire {

struct LargeFrame {
  bool is_v4 = true;
  bool is_tcp = true;
  std::uint8_t tags = 0;
  std::uint8_t flags = TcpFlags::kAck;
  std::uint32_t sequence = 0xffff'f000U;  // wraps
  std::uint16_t identification = 0xfffeU;
  std::size_t payload = 0;
  std::string_view extensions = {};  // octets for IPv6; the last names TCP or UDP
  std::uint8_t first_extension = 0;

  std::vector<std::byte> write() const {
    EthernetHeader ethernet;
    ethernet.destination.octets = {2, 0, 0, 0, 0, 1};
    ethernet.source.octets = {2, 0, 0, 0, 0, 2};
    ethernet.type = is_v4 ? EtherType::kIpv4 : EtherType::kIpv6;
    ethernet.tag_count = tags;
    ethernet.tags = {VlanTag{.tpid = 0x88a8, .tci = 200}, VlanTag{.tpid = 0x8100, .tci = 100}};
    if (tags == 1) ethernet.tags[0] = {.tpid = 0x8100, .tci = 0xe064};
    const auto between = octets(extensions);
    TcpHeader tcp;
    tcp.source_port = 40000;
    tcp.destination_port = 80;
    tcp.sequence = sequence;
    tcp.acknowledgment = 77;
    tcp.flags = flags;
    tcp.window = 501;
    tcp.options.timestamps = TcpTimestamps{.value = 5, .echo_reply = 6};
    const std::size_t header = is_tcp ? tcp_header_size(tcp) : kUdpHeaderSize;
    IpHeader ip;
    ip.source = is_v4 ? IpAddress::v4({10, 0, 0, 1}) : IpAddress::v6({0xfd, 1});
    ip.destination = is_v4 ? IpAddress::v4({10, 0, 0, 2}) : IpAddress::v6({0xfd, 2});
    const std::uint8_t protocol = is_tcp ? kProtocolTcp : kProtocolUdp;
    ip.protocol = between.empty() ? protocol : first_extension;
    ip.identification = identification;
    ip.traffic_class = 0x2a;
    ip.payload_size = static_cast<std::uint16_t>(between.size() + header + payload);

    std::vector<std::byte> frame(kMaxEthernetHeaderSize + kIpv6HeaderSize + ip.payload_size);
    write_ethernet(ethernet, frame);
    std::size_t at = ethernet.size();
    at += write_ip(ip, MutableBytes(frame).subspan(at));
    std::copy(between.begin(), between.end(), frame.begin() + static_cast<std::ptrdiff_t>(at));
    at += between.size();
    const MutableBytes transport = MutableBytes(frame).subspan(at);
    const auto length = static_cast<std::uint32_t>(header + payload);
    const std::uint16_t pseudo = pseudo_header_sum(ip.source, ip.destination, protocol, length);
    if (is_tcp) {
      write_tcp(tcp, transport);
      store_u16(transport.data() + kTcpChecksumOffset, pseudo);
    } else {
      write_udp({4000, 5000, static_cast<std::uint16_t>(length), pseudo}, transport);
    }
    Random random(payload);
    const auto bytes = random_octets(random, payload);
    at += header;
    std::copy(bytes.begin(), bytes.end(), frame.begin() + static_cast<std::ptrdiff_t>(at));
    frame.resize(at + payload);
    return frame;
  }
};

}  // namespace satrelay::wire
