// Random scenarios for the property test and `satlab soak`: flows, hosts, links, faults and limits.
#pragma once

#include <cstdint>

#include "relay/sim/scenarios/scenario.h"

namespace satrelay::sim {

Scenario random_scenario(std::uint64_t seed);

}  // namespace satrelay::sim
