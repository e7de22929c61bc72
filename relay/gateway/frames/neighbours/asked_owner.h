// Reads the address that an ARP request or a neighbour solicitation asks for, and the address in an
// answer to such a message.
#pragma once

#include <optional>

#include "pep/base/address.h"
#include "relay/gateway/frames/frame.h"

namespace satrelay::gateway {

// The target of an ARP request or a neighbour solicitation; nullopt if the frame asks for no
// address.
std::optional<IpAddress> asked_owner(const Frame& frame);
// The address in an ARP reply, or in a neighbour advertisement with or without a MAC, to a single
// station; nullopt if the frame is not an answer.
std::optional<IpAddress> answering_owner(const Frame& frame);

}  // namespace satrelay::gateway
