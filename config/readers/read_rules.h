// The rules of gateway.yaml: their criteria and their actions.
#pragma once

#include <vector>

#include "config/keys/key.h"
#include "config/model/schema.h"

namespace satrelay::config {

const Keys<Rule>& rule_keys();
const Keys<Match>& match_keys();

// `classes` is nullptr if the classes are not known because the file has a mistake there. Throws
// ConfigError, also if the parts of one rule contradict each other. validation.h finds
// contradictions with other rules and with peers.
std::vector<Rule> read_rules(const Value& value, const std::vector<TrafficClass>* classes);

}  // namespace satrelay::config
