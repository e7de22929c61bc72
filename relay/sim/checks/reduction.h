// Ways to make a scenario simpler, each with a name, so that what is left of a random one can be
// written down as its seed and a list of them: "flow:3+5 restart:0 loss:1".
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "relay/sim/scenarios/scenario.h"

namespace satrelay::sim {

// `place` says which flow, fault, side, ... of the scenario as it is when the step is taken.
struct Reduction {
  std::string_view name;  // of the table in reduction.cc
  std::size_t place = 0;
  std::size_t count = 1;  // so many flows from there on; 1 for all else
  friend bool operator==(const Reduction&, const Reduction&) = default;
};

// Whether it made the scenario any simpler; if not, nothing has changed.
bool apply(const Reduction& reduction, Scenario& scenario);

// How a kind may be tried on a scenario.
struct ReductionKind {
  std::string_view name;
  std::size_t places = 0;
  bool is_removal_of_flows = false;
};
// All kinds, those that take most away first.
std::vector<ReductionKind> kinds_for(const Scenario& scenario);

std::string to_string(const std::vector<Reduction>& steps);
// nullopt if it is not such a list.
std::optional<std::vector<Reduction>> parse_reductions(std::string_view text);

}  // namespace satrelay::sim
