#include "relay/sim/scenarios/workers_scenario.h"

#include <array>
#include <cstdint>

#include "pep/base/random.h"
#include "relay/sim/scenarios/hostile_scenario.h"
#include "relay/sim/scenarios/random_scenario.h"

namespace satrelay::sim {
namespace {

void set_workers(Scenario& scenario, Side side, unsigned workers) {
  Station& station = scenario.station(side);
  const auto scaled = [&](ByteCount memory) {
    return ByteCount(memory.value() / station.workers * workers);
  };
  station.limits.memory = scaled(station.limits.memory);
  for (Restart& restart : scenario.restarts) {
    if (restart.side == side && restart.memory) restart.memory = scaled(*restart.memory);
  }
  station.workers = workers;
}

// Draws times in which workers do not run. Worker 0 is chosen more often, since it divides the
// links among all workers.
void draw_absences(Scenario& scenario, Random& random) {
  const std::uint64_t count = 1 + random.below(20);
  for (std::uint64_t i = 0; i < count; ++i) {
    const Side side = random.chance(0.5) ? Side::kA : Side::kB;
    const unsigned workers = scenario.station(side).workers;
    const auto milliseconds = [&](std::uint64_t least, std::uint64_t most) {
      return Duration::milliseconds(static_cast<std::int64_t>(least + random.below(most - least)));
    };
    scenario.absences.push_back(
        {.side = side,
         .worker = random.chance(0.4) ? 0 : static_cast<unsigned>(random.below(workers)),
         .when = Instant() + milliseconds(2'000, 40'000),
         .length = random.chance(0.7) ? milliseconds(1, 60) : milliseconds(60, 600)});
  }
}

}  // namespace

void set_workers(Scenario& scenario, unsigned workers) {
  for (const Side side : {Side::kA, Side::kB}) set_workers(scenario, side, workers);
}

Scenario workers_scenario(std::uint64_t seed) {
  Random random(Random(~seed).next());
  Scenario scenario = random.chance(0.3) ? mixed_scenario(seed) : random_scenario(seed);
  constexpr unsigned kCounts[] = {1, 2, 4, 8};
  std::array<unsigned, 2> workers{};
  for (unsigned& each : workers) each = kCounts[random.below(4)];
  // At least one gateway has several workers.
  if (workers[0] == 1 && workers[1] == 1) workers[random.below(2)] = 2;
  for (const Side side : {Side::kA, Side::kB}) {
    set_workers(scenario, side, workers[static_cast<std::size_t>(side)]);
  }
  if (random.chance(0.4)) draw_absences(scenario, random);
  return scenario;
}

}  // namespace satrelay::sim
