// Computes the host and the flow to which HeldFrames assigns a bridged frame.
#pragma once

#include "config/model/schema.h"
#include "relay/gateway/frames/frame.h"
#include "relay/gateway/frames/keyed_hash.h"
#include "relay/gateway/uplink/held_frames.h"

namespace satrelay::gateway {

// `frame` comes from the LAN. The flow of an IP packet is identified by addresses, protocol and,
// where they are visible, ports. For other frames, host and flow are the same: the PPPoE session,
// the MPLS labels (at most three of them), or otherwise the two MACs.
HeldKey held_key(const HashKey& key, config::FairHosts fair, schedule::ClassId traffic_class,
                 const Frame& frame);

}  // namespace satrelay::gateway
