// The usual random scenarios and the mixed ones, between gateways with several workers.
#pragma once

#include <cstdint>

#include "relay/sim/scenario.h"

namespace satrelay::sim {

Scenario workers_scenario(std::uint64_t seed);

}  // namespace satrelay::sim
