#include "relay/gateway/rules/rule_index.h"

#include <algorithm>

namespace satrelay::gateway {

using config::Rule;

bool bars(const Rule& rule) {
  return rule.action == config::Action::kDrop || rule.action == config::Action::kReset;
}

// Walks through all values of a criterion, and collects the rules that match the current value.
class RuleIndex::Collector final : public AddressSteps::Walker {
 public:
  Collector(RuleSets& sets, std::size_t rules)
      : sets_(sets), holds_(rules), words_(sets.word_count()) {}
  // The ranges of a rule may overlap, so count how many of them contain the current value.
  void enter(std::uint32_t rule) override {
    if (holds_[rule]++ == 0) words_[rule / 64] |= std::uint64_t{1} << rule % 64;
  }
  void leave(std::uint32_t rule) override {
    if (--holds_[rule] == 0) words_[rule / 64] &= ~(std::uint64_t{1} << rule % 64);
  }
  std::uint32_t value() override { return sets_.add(words_); }

 private:
  RuleSets& sets_;
  std::vector<std::uint32_t> holds_;
  std::vector<std::uint64_t> words_;
};

template <typename List>
RuleIndex::Addresses RuleIndex::index_addresses(const std::vector<Rule>& rules, List list) {
  Collector any(sets_, rules.size());
  std::vector<AddressSteps::Entry> entries;
  for (std::uint32_t i = 0; i < rules.size(); ++i) {
    const std::vector<IpPrefix>& prefixes = list(rules[i].match);
    if (prefixes.empty()) any.enter(i);
    for (const IpPrefix& prefix : prefixes) entries.push_back({prefix, i});
  }
  Collector holding(sets_, rules.size());
  return {!entries.empty(), any.value(), AddressSteps(entries, holding)};
}

// `ranges_of(match, add)` must call add(first, last) for each range of values that the rule
// demands, and not at all if the rule does not use the criterion.
template <typename RangesOf>
RuleIndex::Table RuleIndex::index_values(const std::vector<Rule>& rules, std::size_t values,
                                         RangesOf ranges_of) {
  Collector any(sets_, rules.size());
  // enter[v]: rules that match from value v on. leave[v]: rules that no longer match from value v
  // on.
  std::vector<std::vector<std::uint32_t>> enter(values + 1);
  std::vector<std::vector<std::uint32_t>> leave(values + 1);
  bool used = false;
  for (std::uint32_t i = 0; i < rules.size(); ++i) {
    bool wants = false;
    ranges_of(rules[i].match, [&](std::size_t first, std::size_t last) {
      wants = true;
      enter[first].push_back(i);
      leave[last + 1].push_back(i);
    });
    if (!wants) any.enter(i);
    used = used || wants;
  }
  Table table{used, any.value(), {}};
  if (!used) return table;
  Collector holding(sets_, rules.size());
  RuleSets::SetId set = RuleSets::kEmpty;
  for (std::size_t v = 0; v < values; ++v) {
    for (const std::uint32_t rule : enter[v]) holding.enter(rule);
    for (const std::uint32_t rule : leave[v]) holding.leave(rule);
    if (!enter[v].empty() || !leave[v].empty()) set = holding.value();
    table.of_value.push_back(set);
  }
  return table;
}

RuleIndex::RuleIndex(const std::vector<Rule>& rules, const std::vector<std::string>& peers)
    : sets_(rules.size()) {
  using config::Match;
  source_ = index_addresses(
      rules, [](const Match& m) -> auto& { return m.source; });
  destination_ = index_addresses(
      rules, [](const Match& m) -> auto& { return m.destination; });
  port_ = index_values(rules, 65'536, [](const Match& m, const auto& add) {
    for (const config::PortRange& range : m.port) add(range.first, range.last);
  });
  const auto each = [](const auto& values, const auto& add) {
    for (const auto value : values) add(value, value);
  };
  protocol_ =
      index_values(rules, 256, [&](const Match& m, const auto& add) { each(m.protocol, add); });
  vlan_ = index_values(rules, 4096, [&](const Match& m, const auto& add) { each(m.vlan, add); });
  dscp_ = index_values(rules, 64, [&](const Match& m, const auto& add) { each(m.dscp, add); });
  direction_ = index_values(rules, 2, [](const Match& m, const auto& add) {
    if (!m.direction) return;
    const auto value = static_cast<std::size_t>(*m.direction);
    add(value, value);
  });
  // The last but one value stands for a host that no peer serves. The last value stands for unknown
  // peers: a rule can name an unknown peer, but no packet has this value.
  peer_ = index_values(rules, peers.size() + 2, [&](const Match& m, const auto& add) {
    for (const std::string& name : m.peer) {
      const auto found = std::ranges::find(peers, name);
      const auto at = static_cast<std::size_t>(found - peers.begin());
      const std::size_t value = found == peers.end() ? peers.size() + 1 : at;
      add(value, value);
    }
  });
  const auto despite = [&](auto wants) {
    Collector those(sets_, rules.size());
    for (std::uint32_t i = 0; i < rules.size(); ++i) {
      if (bars(rules[i]) || !wants(rules[i].match)) those.enter(i);
    }
    return those.value();
  };
  despite_hidden_port_ = despite([](const Match& m) { return !m.port.empty(); });
  despite_hidden_transport_ =
      despite([](const Match& m) { return !m.port.empty() || !m.protocol.empty(); });
  sets_.seal();
}

std::optional<std::size_t> RuleIndex::first_match(const PolicyKey& key) const {
  auto first = first_match(key, key.protocol);
  if (!protocol_.used || key.hidden == PolicyKey::Hidden::kTransport) return first;
  for (const std::uint8_t number : key.extensions.numbers()) {
    const auto found = first_match(key, number);
    if (found && (!first || *found < *first)) first = found;
  }
  return first;
}

std::optional<std::size_t> RuleIndex::first_match(const PolicyKey& key,
                                                  std::uint8_t protocol) const {
  using Hidden = PolicyKey::Hidden;
  std::array<RuleSets::Either, 8> pairs;
  std::size_t count = 0;
  const auto address = [&](const Addresses& addresses, const IpAddress& value) {
    if (addresses.used) pairs[count++] = {addresses.of_address.find(value), addresses.any};
  };
  const auto value = [&](const Table& table, std::size_t at) {
    if (table.used) pairs[count++] = {table.of_value[at], table.any};
  };
  address(source_, key.source);
  address(destination_, key.destination);
  if (key.hidden == Hidden::kNothing) {
    value(port_, key.port);
  } else {
    const bool all = key.hidden == Hidden::kTransport;
    pairs[count++] = {all ? despite_hidden_transport_ : despite_hidden_port_, RuleSets::kEmpty};
  }
  if (key.hidden != Hidden::kTransport) value(protocol_, protocol);
  value(vlan_, key.vlan);
  value(dscp_, key.dscp);
  value(direction_, static_cast<std::size_t>(key.direction));
  value(peer_, key.peer ? key.peer->index() : peer_.of_value.size() - 2);
  return sets_.first_in_all(std::span(pairs).first(count));
}

}  // namespace satrelay::gateway
