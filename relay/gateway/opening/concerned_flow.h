// Finds the flow that a frame concerns although the frame is no segment of the flow, for example an
// ICMP error or a fragment.
#pragma once

#include <optional>

#include "relay/gateway/frames/flow_key.h"
#include "relay/gateway/frames/frame.h"
#include "relay/gateway/port_id.h"

namespace satrelay::gateway {

// For an ICMP error, returns the connection of the quoted packet; for any other frame, the TCP
// connection with the frame's ports. `port`: the port on which the frame arrived. In the key, the
// local host is the host on the LAN. Returns nullopt if the frame shows no TCP connection.
std::optional<FlowKey> concerned_flow(PortId port, const Frame& frame);

}  // namespace satrelay::gateway
