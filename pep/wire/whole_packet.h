// An IP packet that a gateway on the path can analyze: it is not a fragment, and its destination
// address is the final one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "pep/base/bytes.h"
#include "pep/wire/ethernet.h"
#include "pep/wire/ip.h"

namespace satrelay::wire {

struct WholePacket {
  IpHeader ip;
  std::uint8_t protocol = 0;     // the protocol after all extension headers
  std::size_t transport_at = 0;  // offset of the transport header in the packet
  std::size_t size = 0;          // size of the packet in bytes, from its length field
};

// Parses the packet at the front of `bytes`, which must have the version of `type`. Returns nullopt
// if parse_ip() refuses it, or if it is a fragment. Also refuses a packet with a Routing header
// that names further hosts to visit, because the pseudo-header contains the last host and not the
// destination.
std::optional<WholePacket> parse_whole_packet(ConstBytes bytes, EtherType type);

// Adjusts the header at the front of `packet`, which parse_whole_packet() has accepted, to the size
// of `packet`. In an IPv4 header, adds `number` to the identification and computes the checksum.
void fit_ip_header(MutableBytes packet, std::uint16_t number);

}  // namespace satrelay::wire
