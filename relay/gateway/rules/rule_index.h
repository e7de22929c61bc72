// Finds the first of many rules that matches: for each criterion, what the packet has there leads
// to the set of rules that want just that, and the lowest rule that stands in all sets, or has no
// such criterion, is the one. Ten thousand rules cost little more than ten (docs/measurements.md).
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

// Whether it lets nothing pass.
bool bars(const config::Rule& rule);

class RuleIndex {
 public:
  // `peers`: their names, in the order that PolicyKey::peer counts. Takes some 10 us a rule.
  RuleIndex(const std::vector<config::Rule>& rules, const std::vector<std::string>& peers);

  // What a packet hides (PolicyKey::hidden) matters to rules that want something of it: those that
  // drop or reset match, the others do not.
  std::optional<std::size_t> first_match(const PolicyKey& key) const;

 private:
  // With a protocol of the packet.
  std::optional<std::size_t> first_match(const PolicyKey& key, std::uint8_t protocol) const;
  // One criterion: for every value the rules that want it, and the rules that want none.
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
  struct Range {
    std::size_t first;
    std::size_t last;
    std::uint32_t rule;
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
  // The rules that match, or are taken to, although the port, or the protocol too, is hidden.
  RuleSets::SetId despite_hidden_port_ = RuleSets::kEmpty;
  RuleSets::SetId despite_hidden_transport_ = RuleSets::kEmpty;
};

}  // namespace satrelay::gateway
