// Reads for which address ARP or Neighbour Discovery asks, and for which address an answer speaks.
// These are the two ends of a question, as the asking station sees them.
#pragma once

#include <optional>

#include "pep/base/address.h"
#include "relay/gateway/frames/frame.h"

namespace satrelay::gateway {

// An ARP request or a neighbour solicitation; nullopt if the frame asks for no address.
std::optional<IpAddress> asked_owner(const Frame& frame);
// An ARP reply or a neighbour advertisement to one station, with or without a MAC of its own;
// nullopt if the frame is no answer.
std::optional<IpAddress> answering_owner(const Frame& frame);

}  // namespace satrelay::gateway
