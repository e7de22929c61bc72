// The Neighbour Discovery in a frame, as far as hosts believe it (RFC 4861 section 7.1).
#pragma once

#include <optional>

#include "pep/wire/icmp.h"
#include "relay/gateway/frames/frame.h"

namespace satrelay::gateway {

// nullopt: the frame is no solicitation or advertisement, or comes through a router.
std::optional<wire::NeighbourMessage> neighbour_message(const Frame& frame);

}  // namespace satrelay::gateway
