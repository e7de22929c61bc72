// Turns a change of a port's device into an event for the operator.
#pragma once

#include <string>

#include "relay/dpdk/socket/interface_watch.h"
#include "relay/ops/events/event.h"

namespace satrelay::satrelayd {

// `port` is the name of the port, such as "lan".
ops::Event event_of(const std::string& port, const dpdk::PortChange& change);

}  // namespace satrelay::satrelayd
