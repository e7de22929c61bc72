// Random scenarios run one after the other, each in a process of its own, so that one that crashes
// or never ends is a failure like any other.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "relay/sim/checks/reduction.h"
#include "relay/sim/scenarios/profile.h"
#include "relay/sim/scenarios/scenario.h"

namespace satrelay::satlab {

// Every promise that was broken; empty if all were kept. Frames that are traced go to stdout.
enum class Frames : std::uint8_t { kSilent, kTraced };
std::vector<std::string> run_here(const sim::Scenario& scenario, Frames frames);

enum class Diagnostics : std::uint8_t { kShown, kHidden };  // what the process says on stderr
std::vector<std::string> run_apart(const sim::Scenario& scenario, Diagnostics diagnostics);

struct ScenarioName {
  sim::Profile profile = sim::Profile::kUsual;
  std::uint64_t seed = 0;
  unsigned workers = 0;  // of both gateways; zero: as the profile has them
};
sim::Scenario scenario_of(const ScenarioName& name);

struct SoakFailure {
  ScenarioName which;
  std::vector<std::string> broken;
  // The simplest scenario that breaks the same promise.
  std::vector<sim::Reduction> steps;
  sim::Scenario scenario;
  std::vector<std::string> broken_still;  // by the simplest one
};

// `most_runs`: what finding the simplest scenario may cost.
SoakFailure minimise_failure(const ScenarioName& which, const sim::Scenario& scenario,
                             const std::vector<std::string>& broken, std::size_t most_runs);

// What failed, the simplest schedule, and how to see it again.
std::string failure_text(const SoakFailure& failure);
std::string soak_command_for(const SoakFailure& failure);

}  // namespace satrelay::satlab
