// Looks for some seconds at the frames that the interfaces of this machine receive.
#pragma once

#include <chrono>
#include <string>

#include "relay/satrelayctl/init/ports/interfaces.h"

namespace satrelay::ctl::init {

// Fills `traffic` of each interface that can be opened. Returns "", or why none could be opened.
// Ends early if the user interrupts the program.
std::string look_at_traffic(Machine& machine, std::chrono::milliseconds time);

}  // namespace satrelay::ctl::init
