// Completes the TCP or UDP checksum of a frame whose sender left it to a NIC that does not exist.
#pragma once

#include <cstddef>

#include "pep/base/bytes.h"
#include "relay/dpdk/device/packet.h"

namespace satrelay::dpdk {

// True if the frame is IPv4 or IPv6 (VLAN tags, options and extension headers allowed) with TCP or
// UDP behind, whole, and its checksum is complete now. Anything else stays as it is, and so does
// what is to pass further hosts first: that was summed with another destination. `start`: where the
// sender says that what is summed up begins; elsewhere it is the checksum of something inside.
inline constexpr std::size_t kAnywhere = 0;
bool finish_checksum(MutableBytes frame, std::size_t start = kAnywhere);

// The same where the headers do not tell, as behind those of a tunnel: the checksum from `start` to
// the end of the frame, `offset` behind `start`, where the sum of the pseudo-header stands; that of
// GRE, which has none; of SCTP its CRC. False if these do not fit the frame, or are none of these
// protocols'.
bool finish_checksum_at(MutableBytes frame, std::size_t start, std::size_t offset);

// What was left to the port (Packet::leave_checksum()) is done here. False if nothing was.
bool finish_left_checksum(Packet& packet);

}  // namespace satrelay::dpdk
