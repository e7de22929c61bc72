// Usual and mixed random scenarios, between gateways with several workers. In some of them a
// worker's thread is away now and then.
#pragma once

#include <cstdint>

#include "relay/sim/scenarios/scenario.h"

namespace satrelay::sim {

Scenario workers_scenario(std::uint64_t seed);
// Gives both gateways `workers` workers. The memory grows with their number, since each worker has
// its own flows.
void set_workers(Scenario& scenario, unsigned workers);

}  // namespace satrelay::sim
