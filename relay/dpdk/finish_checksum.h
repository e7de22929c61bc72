// Completes the TCP or UDP checksum of a frame whose sender left it to a NIC that does not exist.
#pragma once

#include "pep/base/bytes.h"

namespace satrelay::dpdk {

// True if the frame is IPv4 or IPv6 (VLAN tags allowed) with TCP or UDP right behind, whole, and
// its checksum is complete now. Anything else stays as it is.
bool finish_checksum(MutableBytes frame);

}  // namespace satrelay::dpdk
