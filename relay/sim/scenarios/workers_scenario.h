// The usual and mixed random scenarios, between gateways with several workers. In some of them,
// threads of workers do not run for some time.
#pragma once

#include <cstdint>

#include "relay/sim/scenarios/scenario.h"

namespace satrelay::sim {

Scenario workers_scenario(std::uint64_t seed);
// Gives both gateways `workers` workers. Increases the memory with the number of workers, since
// each worker has its own flows.
void set_workers(Scenario& scenario, unsigned workers);

}  // namespace satrelay::sim
