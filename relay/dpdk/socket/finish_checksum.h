// Completes the TCP or UDP checksum of a frame, if the sender left it to a NIC that does not exist.
#pragma once

#include <cstddef>

#include "pep/base/bytes.h"
#include "relay/dpdk/device/packet.h"

namespace satrelay::dpdk {

// Completes the checksum of a whole IPv4 or IPv6 frame (VLAN tags, options and extension headers
// allowed) that carries TCP or UDP, and returns true. Any other frame stays as it is, and the
// result is false. That includes a source-routed packet: its checksum counts another destination
// than its header has. `start`: where the sender says that the summed bytes begin. If they begin
// elsewhere than behind the IP header, the checksum belongs to an inner header, and the result is
// false.
inline constexpr std::size_t kAnywhere = 0;
bool finish_checksum(MutableBytes frame, std::size_t start = kAnywhere);

// The same for a frame with headers that do not show the place, as in a tunnel. Sums the bytes from
// `start` to the end of the frame, and writes the checksum `offset` bytes behind `start`. For TCP
// and UDP the sum of the pseudo-header stands in that field; GRE has no pseudo-header. SCTP gets
// its CRC. False if the field does not fit the frame, or if `offset` belongs to none of these
// protocols.
bool finish_checksum_at(MutableBytes frame, std::size_t start, std::size_t offset);

// Completes a checksum that was left to the port (Packet::leave_checksum()). False if none was
// left.
bool finish_left_checksum(Packet& packet);

}  // namespace satrelay::dpdk
