// Recognizes kinds of frames below IP that the gateway must handle specially.
#pragma once

#include <optional>

#include "relay/gateway/frames/frame.h"

namespace satrelay::gateway {

// Whether the network below IP needs the frame to work or to find a host: ARP, Neighbour Discovery,
// STP, LACP, LLDP, EAPOL, CFM and OAM, PPPoE discovery, and the control protocols of PPP (LCP,
// IPCP).
bool is_link_control(const Frame& frame);

// Parses the IP packet in a PPPoE session or behind MPLS labels (pep/wire/encapsulation.h). The
// result has the Ethernet header of `frame`; nullopt if there is no IP packet.
std::optional<Frame> look_inside(const Frame& frame);

}  // namespace satrelay::gateway
