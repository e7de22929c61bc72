#include "relay/sim/workers_scenario.h"

#include "pep/base/random.h"
#include "relay/sim/hostile_scenario.h"
#include "relay/sim/random_scenario.h"

namespace satrelay::sim {

Scenario workers_scenario(std::uint64_t seed) {
  Random random(Random(~seed).next());
  Scenario scenario = random.chance(0.3) ? mixed_scenario(seed) : random_scenario(seed);
  constexpr unsigned kCounts[] = {1, 2, 4, 8};
  for (Station& station : scenario.stations) {
    station.workers = kCounts[random.below(4)];
    // What one worker had, as each has its own flows.
    station.limits.memory = station.limits.memory * station.workers;
  }
  // At least one of them has several.
  if (scenario.stations[0].workers == 1 && scenario.stations[1].workers == 1) {
    scenario.stations[random.below(2)].workers = 2;
  }
  for (Restart& restart : scenario.restarts) {
    if (restart.memory) *restart.memory = *restart.memory * scenario.station(restart.side).workers;
  }
  return scenario;
}

}  // namespace satrelay::sim
