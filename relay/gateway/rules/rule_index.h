// Finds the first matching rule among many. For each criterion, a table gives the set of rules that
// demand the packet's value. A rule matches if, for each criterion, it is in this set or does not
// use the criterion. The result is the lowest such rule. A search among ten thousand rules takes
// little longer than among ten (docs/measurements.md).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "config/model/schema.h"
#include "relay/gateway/rules/address_steps.h"
#include "relay/gateway/rules/policy_key.h"
#include "relay/gateway/rules/rule_sets.h"

namespace satrelay::gateway {

// Whether the rule drops or resets everything that it matches.
bool bars(const config::Rule& rule);

class RuleIndex {
 public:
  // `peers`: the names of the peers, indexed like PolicyKey::peer. Takes about 10 us per rule.
  RuleIndex(const std::vector<config::Rule>& rules, const std::vector<std::string>& peers);

  // If values are not visible in a packet (PolicyKey::hidden), a rule that demands one of them
  // matches only if the rule drops or resets.
  std::optional<std::size_t> first_match(const PolicyKey& key) const;

 private:
  // Returns the first match under the assumption that the packet has this protocol number.
  std::optional<std::size_t> first_match(const PolicyKey& key, std::uint8_t protocol) const;
  // The index of one criterion. `of_value` has the rules that demand each value. `any` has the
  // rules that do not use the criterion.
  struct Table {
    bool used = false;
    RuleSets::SetId any = RuleSets::kEmpty;
    std::vector<RuleSets::SetId> of_value;
  };
  struct Addresses {
    bool used = false;
    RuleSets::SetId any = RuleSets::kEmpty;
    AddressSteps of_address;
  };
  class Collector;

  template <typename List>
  Addresses index_addresses(const std::vector<config::Rule>& rules, List list);
  template <typename RangesOf>
  Table index_values(const std::vector<config::Rule>& rules, std::size_t values,
                     RangesOf ranges_of);

  RuleSets sets_;
  Addresses source_, destination_;
  Table port_, protocol_, vlan_, dscp_, direction_, peer_;
  // The rules that can match a packet without a visible port, and a packet without a visible port
  // and protocol.
  RuleSets::SetId despite_hidden_port_ = RuleSets::kEmpty;
  RuleSets::SetId despite_hidden_transport_ = RuleSets::kEmpty;
};

}  // namespace satrelay::gateway
