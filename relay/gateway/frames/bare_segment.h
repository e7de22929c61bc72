// Writes the Ethernet frame of a TCP segment that has no payload and belongs to no flow.
#pragma once

#include <cstddef>

#include "pep/base/bytes.h"
#include "pep/wire/ethernet.h"
#include "pep/wire/ip.h"
#include "pep/wire/tcp.h"
#include "relay/gateway/frames/flow_key.h"

namespace satrelay::gateway {

// The largest frame of a segment without payload and without options, such as an RST.
inline constexpr std::size_t kMostBareSegment =
    wire::kMaxEthernetHeaderSize + wire::kIpv6HeaderSize + wire::kTcpHeaderSize;

// Writes a segment to the host `key.local`; returns the size of the frame. `out` must have room for
// the headers, the VLAN tags and all TCP options.
std::size_t write_bare_segment(const wire::EthernetHeader& to_host, const FlowKey& key,
                               wire::TcpHeader header, MutableBytes out);

}  // namespace satrelay::gateway
