// Among whom a bridged packet that waits takes its turn.
#pragma once

#include "config/model/schema.h"
#include "relay/gateway/frames/frame.h"
#include "relay/gateway/frames/keyed_hash.h"
#include "relay/gateway/uplink/held_frames.h"

namespace satrelay::gateway {

// `frame` comes from the LAN. Its flow is what its addresses, its protocol and, where they are to
// be seen, its ports say. A frame that is not IP is of a host and a flow of its own: its PPPoE
// session, its stack of MPLS labels (three of them at most), or else its two MACs.
HeldKey held_key(const HashKey& key, config::FairHosts fair, schedule::ClassId traffic_class,
                 const Frame& frame);

}  // namespace satrelay::gateway
