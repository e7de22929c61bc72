// One rule as it is in force, and what fell under it. Flows hold on to theirs: it outlives a reload
// that takes it out of the configuration.
#pragma once

#include <cstdint>
#include <memory>

#include "config/model/schema.h"
#include "pep/schedule/class_set.h"
#include "relay/gateway/rules/rule_counters.h"

namespace satrelay::gateway {

struct ActiveRule {
  std::uint32_t number = 0;  // its place in the configuration, from 1; 0: no rule matched
  config::Rule rule;
  config::Rule configured;  // differs where the operator has set something since
  // Of what it relays and of what it bridges (traffic_classes.h).
  schedule::ClassId relayed_class = 0;
  schedule::ClassId bridged_class = 0;
  RuleUse use;
};
using RulePtr = std::shared_ptr<ActiveRule>;

}  // namespace satrelay::gateway
