// Computes the host and the flow by which a waiting bridged frame takes its turns.
#pragma once

#include "config/model/schema.h"
#include "relay/gateway/frames/frame.h"
#include "relay/gateway/frames/keyed_hash.h"
#include "relay/gateway/uplink/held_frames.h"

namespace satrelay::gateway {

// `frame` comes from the LAN. Its flow is identified by its addresses, its protocol and, where they
// are visible, its ports. A frame that is not IP belongs to a host and a flow of its own kind: its
// PPPoE session, its stack of MPLS labels (at most three of them), or otherwise its two MACs.
HeldKey held_key(const HashKey& key, config::FairHosts fair, schedule::ClassId traffic_class,
                 const Frame& frame);

}  // namespace satrelay::gateway
