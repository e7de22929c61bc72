// Random scenarios with adversaries: a peer that has the right keys but sends any frames, hosts
// that forge frames, or both, together with crowds of flows and faults. Flows between honest hosts
// must not suffer.
#pragma once

#include <cstdint>

#include "relay/sim/scenarios/scenario.h"

namespace satrelay::sim {

Scenario hostile_peer_scenario(std::uint64_t seed);
Scenario hostile_lan_scenario(std::uint64_t seed);
// Draws each of these with some probability: a crowd of flows, faults, a hostile peer, and a
// forging host.
Scenario mixed_scenario(std::uint64_t seed);

}  // namespace satrelay::sim
