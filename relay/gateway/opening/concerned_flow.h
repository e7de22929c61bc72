// The flow that a frame concerns without being a segment of it.
#pragma once

#include <optional>

#include "relay/gateway/frames/flow_key.h"
#include "relay/gateway/frames/frame.h"
#include "relay/gateway/port_id.h"

namespace satrelay::gateway {

// For an ICMP error, the connection of the packet that it quotes; for any other frame, the TCP
// connection whose ports it shows. `port`: where the frame came from. The key is as seen from the
// LAN. nullopt: the frame shows no TCP connection.
std::optional<FlowKey> concerned_flow(PortId port, const Frame& frame);

}  // namespace satrelay::gateway
