// Computes the host and the flow to which HeldFrames assigns a bridged frame.
#pragma once

#include "config/model/schema.h"
#include "relay/gateway/frames/frame.h"
#include "relay/gateway/frames/keyed_hash.h"
#include "relay/gateway/uplink/held_frames.h"

namespace satrelay::gateway {

// `frame` comes from the LAN. Its flow is identified by its addresses, its protocol and, where they
// are visible, its ports. If the frame is not IP, its PPPoE session counts as both host and flow,
// or its stack of MPLS labels (at most three of them), or otherwise its two MACs.
HeldKey held_key(const HashKey& key, config::FairHosts fair, schedule::ClassId traffic_class,
                 const Frame& frame);

}  // namespace satrelay::gateway
