// An IP packet that can be taken apart on its way: it is whole, and for the host that it names.
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
  std::uint8_t protocol = 0;     // behind all extension headers
  std::size_t transport_at = 0;  // where that begins, from the front of the packet
  std::size_t size = 0;          // by its length field
};

// The packet at the front of `bytes`, of the version that `type` names. nullopt if parse_ip()
// refuses it, if it is a fragment, or if a Routing header names further hosts to pass: then the
// pseudo-header has the last of them.
std::optional<WholePacket> parse_whole_packet(ConstBytes bytes, EtherType type);

// Fits the header at the front of `packet`, which parse_whole_packet() has accepted, to all of
// `packet`. An IPv4 header gets an identification that is higher by `number`, and its checksum.
void fit_ip_header(MutableBytes packet, std::uint16_t number);

}  // namespace satrelay::wire
