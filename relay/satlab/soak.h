// Runs random scenarios one after the other, each in a process of its own. So a crash, or a run
// that never ends, is reported like any other failure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "relay/sim/checks/reduction.h"
#include "relay/sim/scenarios/profile.h"
#include "relay/sim/scenarios/scenario.h"

namespace satrelay::satlab {

struct ScenarioName {
  sim::Profile profile = sim::Profile::kUsual;
  std::uint64_t seed = 0;
  unsigned workers = 0;  // number of workers of each gateway; zero means that the profile draws it
  // The number of engine calls between two rewritings of a flow (flow_rewriter.h). Zero means that
  // no flow is rewritten. If flows are rewritten, the heaps of the gateways are not measured.
  unsigned images = 0;
};
sim::Scenario scenario_of(const ScenarioName& name);

// Both run functions return a text for each check that failed. run_here() runs the scenario in this
// process, and can write each frame to stdout. run_apart() runs it in a new process. The scenario
// may be the scenario of `name`, or a reduced version of it.
enum class Frames : std::uint8_t { kSilent, kTraced };
std::vector<std::string> run_here(const ScenarioName& name, const sim::Scenario& scenario,
                                  Frames frames);

// Whether the new process writes to stderr.
enum class Diagnostics : std::uint8_t { kShown, kHidden };
std::vector<std::string> run_apart(const ScenarioName& name, const sim::Scenario& scenario,
                                   Diagnostics diagnostics);

struct SoakFailure {
  ScenarioName which;
  std::vector<std::string> broken;
  // The simplest scenario that fails the same check, and the steps that lead to it.
  std::vector<sim::Reduction> steps;
  sim::Scenario scenario;
  std::vector<std::string> broken_still;  // failed checks of the simplest scenario
};

// `most_runs` limits the number of runs in the search for the simplest scenario.
SoakFailure minimise_failure(const ScenarioName& which, const sim::Scenario& scenario,
                             const std::vector<std::string>& broken, std::size_t most_runs);

// Returns a text that says what failed, describes the simplest scenario, and says how to repeat the
// failure.
std::string failure_text(const SoakFailure& failure);
std::string soak_command_for(const SoakFailure& failure);

}  // namespace satrelay::satlab
