// A rule in force, and counts of its traffic. Flows hold on to their rule, so it outlives a reload
// that removes it from the configuration.
#pragma once

#include <cstdint>
#include <memory>

#include "config/model/schema.h"
#include "pep/schedule/class_set.h"
#include "relay/gateway/rules/rule_counters.h"

namespace satrelay::gateway {

struct ActiveRule {
  std::uint32_t number = 0;  // place in the configuration, from 1; 0: no rule matched
  config::Rule rule;
  // Differs from `rule` where the operator has changed something since.
  config::Rule configured;
  // The classes of the traffic that it relays and bridges (traffic_classes.h).
  schedule::ClassId relayed_class = 0;
  schedule::ClassId bridged_class = 0;
  RuleUse use;
};
using RulePtr = std::shared_ptr<ActiveRule>;

}  // namespace satrelay::gateway
