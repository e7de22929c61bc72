// Completes the TCP or UDP checksum of a frame whose sender left it to a NIC that does not exist.
#pragma once

#include <cstddef>

#include "pep/base/bytes.h"
#include "relay/dpdk/packet.h"

namespace satrelay::dpdk {

// True if the frame is IPv4 or IPv6 (VLAN tags allowed) with TCP or UDP right behind, whole, and
// its checksum is complete now. Anything else stays as it is. `start`: where the sender says that
// what is summed up begins; elsewhere it is the checksum of something inside.
inline constexpr std::size_t kAnywhere = 0;
bool finish_checksum(MutableBytes frame, std::size_t start = kAnywhere);

// The same where the headers do not tell, behind those of a tunnel: the checksum from `start` to
// the end of the frame, `offset` behind `start`, where the sum of the pseudo-header stands. False
// if these do not fit the frame, or are neither TCP's nor UDP's: SCTP's is no sum.
bool finish_checksum_at(MutableBytes frame, std::size_t start, std::size_t offset);

// What was left to the port (Packet::leave_checksum()) is done here. False if nothing was.
bool finish_left_checksum(Packet& packet);

}  // namespace satrelay::dpdk
