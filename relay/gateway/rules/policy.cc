#include "relay/gateway/rules/policy.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace satrelay::gateway {
namespace {

using config::Rule;

// Whether the address is link-local (RFC 3927, RFC 4291 section 2.5.6).
bool is_link_local(const IpAddress& address) {
  const auto& o = address.octets();
  return address.is_v4() ? o[0] == 169 && o[1] == 254 : o[0] == 0xfe && (o[1] & 0xc0U) == 0x80;
}

// If no rules are configured, there is one rule that matches everything.
std::vector<Rule> in_force(const std::vector<Rule>& configured) {
  return configured.empty() ? std::vector<Rule>(1) : configured;
}

// Returns the id of the longest prefix that contains the current address; 0 if there is none. A
// longer prefix has a larger id.
class Longest final : public AddressSteps::Walker {
 public:
  void enter(std::uint32_t id) override { holding_.insert(id); }
  void leave(std::uint32_t id) override { holding_.erase(id); }
  std::uint32_t value() override { return holding_.empty() ? 0 : *holding_.rbegin(); }

 private:
  std::set<std::uint32_t> holding_;
};

// After a reload, a new rule continues the counters of an old rule. This class finds the old rule:
// for a rule with a name, the old rule with the same name, otherwise an equal old rule.
class Successors {
 public:
  explicit Successors(const std::vector<RulePtr>& old) {
    for (const RulePtr& rule : old) {
      (rule->configured.name.empty() ? unnamed_[key(rule->configured)]
                                     : named_[rule->configured.name])
          .push_back(rule);
    }
  }
  // Returns nullptr if there is no such rule.
  RulePtr take(const Rule& rule) {
    auto& candidates = rule.name.empty() ? unnamed_[key(rule)] : named_[rule.name];
    const auto same = std::ranges::find_if(candidates, [&](const RulePtr& old) {
      return !rule.name.empty() || old->configured == rule;
    });
    if (same == candidates.end()) return nullptr;
    RulePtr taken = std::move(*same);
    candidates.erase(same);
    return taken;
  }

 private:
  // Only a part of the rule's content. It distinguishes most rules.
  using Key = std::pair<std::vector<IpPrefix>, std::vector<IpPrefix>>;
  static Key key(const Rule& rule) { return {rule.match.source, rule.match.destination}; }

  std::map<Key, std::vector<RulePtr>> unnamed_;
  std::map<std::string, std::vector<RulePtr>> named_;
};

}  // namespace

Policy::Policy(const config::Gateway& config)
    : none_(std::make_shared<ActiveRule>()), own_segment_(config.gateway.address) {
  none_->rule.action = none_->configured.action = config::Action::kBridge;
  replace_rules(config.rules, index(config));
  FarGatewayId id;
  for (const config::Peer& peer : config.peers) {
    for (const IpPrefix& prefix : peer.prefixes) prefixes_.push_back({prefix, id});
    id = id.next();
  }
  std::ranges::stable_sort(prefixes_, {}, [](const PeerPrefix& p) { return p.prefix.length; });
  std::vector<AddressSteps::Entry> entries;
  for (const PeerPrefix& entry : prefixes_) {
    entries.push_back({entry.prefix, static_cast<std::uint32_t>(entries.size() + 1)});
  }
  Longest longest;
  longest_ = AddressSteps(entries, longest);
}

std::shared_ptr<const RuleIndex> Policy::index(const config::Gateway& config) {
  std::vector<std::string> peers;
  for (const config::Peer& peer : config.peers) peers.push_back(peer.name);
  return std::make_shared<RuleIndex>(in_force(config.rules), peers);
}

void Policy::replace_rules(const std::vector<Rule>& rules, std::shared_ptr<const RuleIndex> index) {
  Successors old(rules_);
  rules_.clear();
  for (const Rule& rule : in_force(rules)) {
    RulePtr active = old.take(rule);
    if (active == nullptr) active = std::make_shared<ActiveRule>();
    active->number = static_cast<std::uint32_t>(rules_.size() + 1);
    active->rule = active->configured = rule;
    rules_.push_back(std::move(active));
  }
  index_ = std::move(index);
}

void Policy::set_classes(const TrafficClasses& classes) {
  const auto set = [&](ActiveRule& rule) {
    rule.relayed_class = classes.of_relayed(rule.rule.traffic_class);
    rule.bridged_class = classes.of_bridged(rule.rule.traffic_class);
  };
  set(*none_);
  for (const RulePtr& rule : rules_) set(*rule);
}

PolicyKey Policy::key_of(const Frame& frame, config::Direction direction) const {
  PolicyKey key = policy_key(frame, direction);
  key.peer = peer_for(direction == config::Direction::kOutbound ? key.destination : key.source);
  return key;
}

ActiveRule* Policy::find(std::string_view name_or_number) const {
  const auto found = std::ranges::find_if(rules_, [&](const RulePtr& rule) {
    const std::string& name = rule->rule.name;
    return (!name.empty() && name == name_or_number) ||
           std::to_string(rule->number) == name_or_number;
  });
  return found == rules_.end() ? nullptr : found->get();
}

const Policy::PeerPrefix* Policy::longest(const IpAddress& host) const {
  const std::uint32_t found = longest_.find(host);
  return found == 0 ? nullptr : &prefixes_[found - 1];
}

std::optional<FarGatewayId> Policy::peer_for(const IpAddress& host) const {
  const PeerPrefix* found = longest(host);
  return found == nullptr ? std::nullopt : std::optional(found->peer);
}

std::optional<IpPrefix> Policy::prefix_for(const IpAddress& host) const {
  const PeerPrefix* found = longest(host);
  return found == nullptr ? std::nullopt : std::optional(found->prefix);
}

bool Policy::is_on_own_segment(const IpAddress& server) const {
  if (is_link_local(server)) return true;
  if (own_segment_.length == 0 || !own_segment_.contains(server)) return false;
  const PeerPrefix* found = longest(server);
  return found == nullptr || found->prefix.length < own_segment_.length;
}

}  // namespace satrelay::gateway
