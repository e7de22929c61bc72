// An IP packet that can be taken apart where it passes: whole, and for the host that it names.
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
  std::size_t transport_at = 0;  // the same, from the front of the packet
  std::size_t size = 0;          // by its length field
};

// The packet at the front of `bytes`, of the version that `type` names. nullopt if parse_ip() has
// none, it is a fragment, or a Routing header names further hosts to pass: the pseudo-header has
// the last of them.
std::optional<WholePacket> parse_whole_packet(ConstBytes bytes, EtherType type);

// Makes the header at the front of `packet`, which was taken as above, that of all of `packet`. An
// IPv4 header gets the identification that is `number` further on, and its checksum.
void fit_ip_header(MutableBytes packet, std::uint16_t number);

}  // namespace satrelay::wire
