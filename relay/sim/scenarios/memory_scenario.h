// Many flows that together want more memory than their gateways have: slow readers, typists, tiny
// windows, and a link whose rate and delay change.
#pragma once

#include <cstdint>

#include "relay/sim/scenarios/scenario.h"

namespace satrelay {
class Random;
}

namespace satrelay::sim {

Scenario memory_scenario(std::uint64_t seed);

// Its parts, for scenarios of several kinds: `flows` flows of at most `budget` bytes together,
// between hosts that are there.
void add_crowd(Random& random, Scenario& scenario, std::size_t flows, std::uint64_t budget);

}  // namespace satrelay::sim
