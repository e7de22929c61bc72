// A rule in force, and counts of its traffic. A flow keeps a pointer to its rule. So if a reload
// has removed the rule, it exists until its last flow has ended.
#pragma once

#include <cstdint>
#include <memory>

#include "config/model/schema.h"
#include "pep/schedule/class_set.h"
#include "relay/gateway/rules/rule_counters.h"

namespace satrelay::gateway {

struct ActiveRule {
  std::uint32_t number = 0;  // position in the configuration, from 1; 0 for Policy::none()
  config::Rule rule;
  // The rule as configured. It differs from `rule` if the operator has changed something at run
  // time.
  config::Rule configured;
  // The classes of the traffic that the rule relays and bridges (traffic_classes.h).
  schedule::ClassId relayed_class = 0;
  schedule::ClassId bridged_class = 0;
  RuleUse use;
};
using RulePtr = std::shared_ptr<ActiveRule>;

}  // namespace satrelay::gateway
