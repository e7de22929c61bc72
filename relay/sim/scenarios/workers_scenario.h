// Usual and mixed random scenarios, between gateways with several workers. In some of the
// scenarios, threads of workers sometimes do not run for a while.
#pragma once

#include <cstdint>

#include "relay/sim/scenarios/scenario.h"

namespace satrelay::sim {

Scenario workers_scenario(std::uint64_t seed);
// Gives both gateways `workers` workers. The memory grows with the number of workers, since each
// worker has its own flows.
void set_workers(Scenario& scenario, unsigned workers);

}  // namespace satrelay::sim
