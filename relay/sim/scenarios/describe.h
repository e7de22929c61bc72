// Describes a scenario in words: a line for each link, station, host, class, rule, flow and fault.
// Flows and faults are listed in order of time.
#pragma once

#include <string>

#include "relay/sim/scenarios/scenario.h"

namespace satrelay::sim {

std::string describe(const Scenario& scenario);

}  // namespace satrelay::sim
