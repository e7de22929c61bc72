// A SYN of a flood: from an address that answers nothing, each time another.
#pragma once

#include <cstddef>
#include <cstdint>

#include "pep/base/address.h"
#include "pep/base/random.h"
#include "pep/wire/ethernet.h"
#include "pep/wire/ip.h"
#include "pep/wire/tcp.h"
#include "relay/sim/tcp_frame.h"

namespace satrelay::sim {

struct FloodTarget {
  MacAddress source_mac;
  MacAddress mac;
  IpAddress address;  // IPv4
  std::uint16_t port = 80;
};

// Into `frame`, of 128 bytes at least; its size. The sources are in 10.0.0.0/8.
inline std::size_t write_forged_syn(const FloodTarget& target, Random& random, MutableBytes frame) {
  const std::uint64_t drawn = random.next();
  wire::EthernetHeader ethernet;
  ethernet.destination = target.mac;
  ethernet.source = target.source_mac;
  ethernet.type = wire::EtherType::kIpv4;
  wire::IpHeader ip;
  ip.source =
      IpAddress::v4({10, static_cast<std::uint8_t>(drawn), static_cast<std::uint8_t>(drawn >> 8),
                     static_cast<std::uint8_t>(drawn >> 16)});
  ip.destination = target.address;
  wire::TcpHeader syn;
  syn.source_port = static_cast<std::uint16_t>(drawn >> 24);
  syn.destination_port = target.port;
  syn.sequence = static_cast<std::uint32_t>(drawn >> 32);
  syn.flags = wire::TcpFlags::kSyn;
  syn.window = 1024;
  syn.options.mss = 1460;
  return write_tcp_frame(ethernet, ip, syn, 0, frame, [](MutableBytes) {});
}

}  // namespace satrelay::sim
