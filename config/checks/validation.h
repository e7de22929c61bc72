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
  std::string message;  // the contradiction, and what to do about it
};

// Returns the first contradiction, or nullopt if there is none.
std::optional<Contradiction> find_contradiction(const Gateway& config);
std::optional<Contradiction> find_contradiction(const SatLink& config);

// Returns the paths of values that are allowed but seldom intended, with messages.
std::vector<Contradiction> find_doubtful(const Gateway& config);

// Returns messages about consequences that the configuration does not state, each with the path of
// the key that causes the consequence.
std::vector<Contradiction> find_consequences(const Gateway& config);

}  // namespace satrelay::config
