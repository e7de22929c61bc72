// The usual random scenarios and the mixed ones, between gateways with several workers. In some of
// them a worker's thread is away now and then.
#pragma once

#include <cstdint>

#include "relay/sim/scenarios/scenario.h"

namespace satrelay::sim {

Scenario workers_scenario(std::uint64_t seed);
// So many at both gateways. Each has the memory that one worker had, as each has its own flows.
void set_workers(Scenario& scenario, unsigned workers);

}  // namespace satrelay::sim
