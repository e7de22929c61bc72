// Contradictions: values that are each allowed, but not together; and values that are better not.
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

// The first one found, or nullopt.
std::optional<Contradiction> find_contradiction(const Gateway& config);
std::optional<Contradiction> find_contradiction(const SatLink& config);

// What is allowed and seldom meant, of the same form.
std::vector<Contradiction> find_doubtful(const Gateway& config);

// What follows from the configuration and does not stand in it, of the same form.
std::vector<Contradiction> find_consequences(const Gateway& config);

}  // namespace satrelay::config
