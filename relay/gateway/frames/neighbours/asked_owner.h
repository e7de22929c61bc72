// Reads whose MAC ARP or Neighbour Discovery asks for, and whose an answer tells: the two ends of a
// question, as the station that asks sees them.
#pragma once

#include <optional>

#include "pep/base/address.h"
#include "relay/gateway/frames/frame.h"

namespace satrelay::gateway {

// An ARP request or a neighbour solicitation; nullopt: the frame asks for nobody.
std::optional<IpAddress> asked_owner(const Frame& frame);
// An ARP reply or a neighbour advertisement to one station, with or without a MAC of its own;
// nullopt: the frame answers no question.
std::optional<IpAddress> answering_owner(const Frame& frame);

}  // namespace satrelay::gateway
