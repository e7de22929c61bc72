// Describes a scenario in words, with one line for each link, station, host, class, rule, flow and
// fault. Flows and faults are in order of time.
#pragma once

#include <string>

#include "relay/sim/scenarios/scenario.h"

namespace satrelay::sim {

std::string describe(const Scenario& scenario);

}  // namespace satrelay::sim
