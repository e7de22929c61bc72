// Hostile scenarios: a peer with the right keys, hosts that forge, or both, beside crowds and
// faults. Flows between honest hosts must not suffer.
#pragma once

#include <cstdint>

#include "relay/sim/scenarios/scenario.h"

namespace satrelay::sim {

Scenario hostile_peer_scenario(std::uint64_t seed);
Scenario hostile_lan_scenario(std::uint64_t seed);
// Crowds, a hostile peer and forging hosts, each with some chance.
Scenario mixed_scenario(std::uint64_t seed);

}  // namespace satrelay::sim
