// The rules of gateway.yaml: what they match, and what they do.
#pragma once

#include <vector>

#include "config/keys/key.h"
#include "config/model/schema.h"

namespace satrelay::config {

const Keys<Rule>& rule_keys();
const Keys<Match>& match_keys();

// Throws ConfigError, also where the parts of one rule contradict each other. What contradicts
// other rules or peers is left to validation.h.
std::vector<Rule> read_rules(const Value& value, const std::vector<TrafficClass>& classes);

}  // namespace satrelay::config
