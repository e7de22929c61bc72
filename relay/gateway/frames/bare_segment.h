// Writes the Ethernet frame of a TCP segment without payload that belongs to no flow.
#pragma once

#include <cstddef>

#include "pep/base/bytes.h"
#include "pep/wire/ethernet.h"
#include "pep/wire/tcp.h"
#include "relay/gateway/frames/flow_key.h"

namespace satrelay::gateway {

// To the host of `key`; the size of the frame. `out` must hold the headers, VLAN tags and all TCP
// options.
std::size_t write_bare_segment(const wire::EthernetHeader& to_host, const FlowKey& key,
                               wire::TcpHeader header, MutableBytes out);

}  // namespace satrelay::gateway
