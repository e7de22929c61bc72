// Recognizes frames that are not IP, where the gateway treats them specially.
#pragma once

#include <optional>

#include "relay/gateway/frames/frame.h"

namespace satrelay::gateway {

// Whether the frame keeps the network below IP together, or is needed to find a host: ARP,
// Neighbour Discovery, STP, LACP, LLDP, EAPOL, CFM and OAM, PPPoE discovery, and the control
// protocols of PPP (LCP, IPCP).
bool is_link_control(const Frame& frame);

// The IP packet in a PPPoE session or under MPLS labels (pep/wire/encapsulation.h), behind the
// Ethernet header of `frame`; nullopt if there is none.
std::optional<Frame> look_inside(const Frame& frame);

}  // namespace satrelay::gateway
