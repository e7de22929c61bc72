// A SYN of a flood. Its source is an address that answers nothing, another one each time.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "pep/base/address.h"
#include "pep/base/random.h"
#include "pep/wire/ethernet.h"
#include "pep/wire/ip.h"
#include "pep/wire/tcp.h"
#include "relay/sim/network/tcp_frame.h"

namespace satrelay::sim {

struct FloodTarget {
  MacAddress source_mac;
  MacAddress mac;
  IpAddress address;  // An IPv4 address.
  // An IPv4 prefix. The SYNs come from its addresses. A gateway answers only for sources that its
  // peer accepts, and bridges other SYNs.
  IpPrefix sources;
  std::uint16_t port = 80;
};

// One of the addresses of `prefix`, IPv4.
inline IpAddress address_of(const IpPrefix& prefix, std::uint32_t drawn) {
  std::array<std::uint8_t, 4> octets{};
  for (unsigned i = 0; i < 4; ++i) {
    const unsigned kept = std::min(8U, prefix.length - std::min<unsigned>(prefix.length, 8 * i));
    octets[i] = static_cast<std::uint8_t>(prefix.address.octets()[i] |
                                          ((drawn >> (24 - 8 * i)) & (0xffU >> kept)));
  }
  return IpAddress::v4(octets);
}

// Writes a SYN into `frame`, of 128 bytes at least, and returns its size.
inline std::size_t write_forged_syn(const FloodTarget& target, Random& random, MutableBytes frame) {
  const std::uint64_t drawn = random.next();
  wire::EthernetHeader ethernet;
  ethernet.destination = target.mac;
  ethernet.source = target.source_mac;
  ethernet.type = wire::EtherType::kIpv4;
  wire::IpHeader ip;
  ip.source = address_of(target.sources, static_cast<std::uint32_t>(drawn));
  ip.destination = target.address;
  wire::TcpHeader syn;
  syn.source_port = static_cast<std::uint16_t>(drawn >> 16);
  syn.destination_port = target.port;
  syn.sequence = static_cast<std::uint32_t>(drawn >> 32);
  syn.flags = wire::TcpFlags::kSyn;
  syn.window = 1024;
  syn.options.mss = 1460;
  return write_tcp_frame(ethernet, ip, syn, 0, frame, [](MutableBytes) {});
}

}  // namespace satrelay::sim
