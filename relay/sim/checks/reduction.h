// Named ways to make a scenario simpler. With them, a simplified random scenario can be written as
// its seed, the options with which it was drawn, and reductions such as "flow:3+5 restart:0
// loss:1".
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "relay/sim/scenarios/scenario.h"

namespace satrelay::sim {

// One step of simplification. `place` is the number of the flow, fault, side or other part. It is
// counted in the scenario to which the step is applied.
struct Reduction {
  std::string_view name;  // from the table in reduction.cc
  std::size_t place = 0;
  // Number of flows to remove, beginning with `place`; 1 for all other kinds.
  std::size_t count = 1;
  friend bool operator==(const Reduction&, const Reduction&) = default;
};

// Returns whether the scenario became simpler. Otherwise leaves the scenario unchanged.
bool apply(const Reduction& reduction, Scenario& scenario);

// A kind of reduction, and the number of places in a scenario to which it may be applied.
struct ReductionKind {
  std::string_view name;
  std::size_t places = 0;
  bool is_removal_of_flows = false;
};
// Returns all kinds. The kinds that remove most of a scenario come first.
std::vector<ReductionKind> kinds_for(const Scenario& scenario);

std::string to_string(const std::vector<Reduction>& steps);
// Returns nullopt if `text` does not have the form that to_string() writes.
std::optional<std::vector<Reduction>> parse_reductions(std::string_view text);

}  // namespace satrelay::sim
