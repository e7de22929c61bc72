// Checks of a whole configuration: contradictions (values that are allowed alone but not together),
// doubtful values, and consequences that the file does not state.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "config/model/link_model.h"
#include "config/model/schema.h"

namespace satrelay::config {

struct Contradiction {
  std::string path;     // as in the YAML: "peers[1].address"
  std::string message;  // what contradicts what, and what to do
};

// Returns the first contradiction, or nullopt if there is none.
std::optional<Contradiction> find_contradiction(const Gateway& config);
std::optional<Contradiction> find_contradiction(const SatLink& config);

// Values that are allowed but seldom intended, in the same form.
std::vector<Contradiction> find_doubtful(const Gateway& config);

// Consequences of the configuration that it does not state, in the same form.
std::vector<Contradiction> find_consequences(const Gateway& config);

}  // namespace satrelay::config
