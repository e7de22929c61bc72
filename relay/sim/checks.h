// What must hold after a run, whatever the scenario was.
#pragma once

#include <string>
#include <vector>

#include "relay/sim/network.h"

namespace satrelay::sim {

// Runs the scenario to its end and lists every broken promise; empty if all were kept.
std::vector<std::string> run_and_check(Network& network);

// The checks alone, for networks that a test ran itself.
std::vector<std::string> check_flows(Network& network);
std::vector<std::string> check_memory(Network& network);

}  // namespace satrelay::sim
