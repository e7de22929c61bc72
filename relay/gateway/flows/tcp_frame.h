// Writes the Ethernet frame of one TCP segment that a spoofed endpoint sends to its host.
#pragma once

#include <cstddef>

#include "pep/base/bytes.h"
#include "pep/tcp/endpoint.h"
#include "relay/gateway/flows/flow.h"

namespace satrelay::gateway {

// Headers, payload and checksums; the size of the frame. `out` must hold the LAN MTU and an
// Ethernet header with its VLAN tags.
std::size_t write_tcp_frame(const Flow& flow, const tcp::SegmentToSend& segment, MutableBytes out);

}  // namespace satrelay::gateway
