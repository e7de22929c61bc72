// A scenario in words, a line for each link, station, rule, flow and fault, in order of time.
#pragma once

#include <string>

#include "relay/sim/scenarios/scenario.h"

namespace satrelay::sim {

std::string describe(const Scenario& scenario);

}  // namespace satrelay::sim
