// Checks of a whole configuration: contradictions (values that are allowed alone but not together),
// doubtful values, and consequences that the file does not state.
#pragma once

#include <string>
#include <vector>

#include "config/checks/contradiction.h"
#include "config/model/link_model.h"
#include "config/model/schema.h"

namespace satrelay::config {

// Returns all contradictions, at most one for each path. The values must have been read without a
// mistake. A contradiction that follows from another one is left out.
std::vector<Contradiction> find_contradictions(const Gateway& config);
std::vector<Contradiction> find_contradictions(const SatLink& config);

// Returns the paths of values that are allowed but seldom intended, with messages.
std::vector<Contradiction> find_doubtful(const Gateway& config);

// Returns messages about consequences that the configuration does not state, each with the path of
// the key that causes the consequence.
std::vector<Contradiction> find_consequences(const Gateway& config);

}  // namespace satrelay::config
