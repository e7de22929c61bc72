// Simplifies a failing scenario: removes flows and faults, makes the remaining faults milder, and
// shortens transfers. Stops when the scenario would pass after any further step.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "relay/sim/checks/reduction.h"
#include "relay/sim/scenarios/scenario.h"

namespace satrelay::sim {

struct Minimised {
  Scenario scenario;
  std::vector<Reduction> steps;  // the steps that lead from the failing scenario to `scenario`
  std::size_t runs = 0;
};

// Calls `fails` on ever simpler scenarios, at most `most_runs` times.
Minimised minimise(const Scenario& failing, const std::function<bool(const Scenario&)>& fails,
                   std::size_t most_runs);

}  // namespace satrelay::sim
