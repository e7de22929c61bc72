// Makes a scenario that fails as simple as it can be and still fail: removes flows and faults,
// calms what is left, shortens transfers, until nothing more can be taken away.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "relay/sim/checks/reduction.h"
#include "relay/sim/scenarios/scenario.h"

namespace satrelay::sim {

struct Minimised {
  Scenario scenario;
  std::vector<Reduction> steps;  // from the scenario at the start to this one
  std::size_t runs = 0;
};

// `fails` is asked about ever simpler scenarios, at most `most_runs` times.
Minimised minimise(const Scenario& failing, const std::function<bool(const Scenario&)>& fails,
                   std::size_t most_runs);

}  // namespace satrelay::sim
