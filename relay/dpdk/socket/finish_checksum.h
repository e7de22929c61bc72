// Completes the checksum of a frame if the sender left it to a virtual NIC, which does not compute
// checksums.
#pragma once

#include <cstddef>

#include "pep/base/bytes.h"
#include "relay/dpdk/device/packet.h"

namespace satrelay::dpdk {

// Completes the checksum of a whole IPv4 or IPv6 frame (VLAN tags, options and extension headers
// allowed) that carries TCP or UDP, and returns true. Leaves any other frame unchanged, and returns
// false. Source-routed packets are also left unchanged, since their checksum covers a destination
// that is not in the header. `start`: the offset of the first summed byte, according to the sender.
// If this is not the end of the IP header, the checksum belongs to an inner header, and the
// function returns false.
inline constexpr std::size_t kAnywhere = 0;
bool finish_checksum(MutableBytes frame, std::size_t start = kAnywhere);

// Completes the checksum of a frame with headers that do not show where the checksum is, as in a
// tunnel. Sums the bytes from `start` to the end of the frame, and writes the checksum `offset`
// bytes behind `start`. For TCP and UDP, that field must hold the sum of the pseudo-header; GRE has
// no pseudo-header. For SCTP, a CRC is written. Returns false if the field does not fit the frame,
// or if `offset` belongs to none of these protocols.
bool finish_checksum_at(MutableBytes frame, std::size_t start, std::size_t offset);

// Completes a checksum that was left to the port (Packet::leave_checksum()). Returns false if the
// packet has no such checksum.
bool finish_left_checksum(Packet& packet);

}  // namespace satrelay::dpdk
