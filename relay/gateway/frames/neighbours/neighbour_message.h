// Reads a Neighbour Discovery message, if hosts would accept it (RFC 4861 section 7.1).
#pragma once

#include <optional>

#include "pep/wire/icmp.h"
#include "relay/gateway/frames/frame.h"

namespace satrelay::gateway {

// nullopt if the frame is not a solicitation or advertisement, or was forwarded by a router.
std::optional<wire::NeighbourMessage> neighbour_message(const Frame& frame);

}  // namespace satrelay::gateway
