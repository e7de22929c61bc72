// Contradictions: values that are each allowed, but not together.
#pragma once

#include <optional>
#include <string>

#include "config/schema.h"

namespace satrelay::config {

struct Contradiction {
  std::string path;     // as in the YAML: "peers[1].address"
  std::string message;  // what contradicts what, and what to do
};

// The first one found, or nullopt.
std::optional<Contradiction> find_contradiction(const Gateway& config);
std::optional<Contradiction> find_contradiction(const SatLink& config);

}  // namespace satrelay::config
