// Scenarios of many flows that together need more memory than their gateways have. There are slow
// readers, typists, tiny windows, and a link with a changing rate.
#pragma once

#include <cstdint>

#include "relay/sim/scenarios/scenario.h"

namespace satrelay {
class Random;
}

namespace satrelay::sim {

Scenario memory_scenario(std::uint64_t seed);

// Adds `flows` flows of this type between the scenario's hosts. Together they transfer about
// `budget` bytes.
void add_crowd(Random& random, Scenario& scenario, std::size_t flows, std::uint64_t budget);

}  // namespace satrelay::sim
