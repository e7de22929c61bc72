// Decides which rule a connection or a packet matches, and which peer serves its far host. If
// several rules match, the first one counts. If no rules are configured, all connections to the
// prefixes of peers are accelerated. If there are rules, a connection or packet that matches none
// of them is bridged.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/model/schema.h"
#include "pep/base/address.h"
#include "relay/gateway/ids.h"
#include "relay/gateway/rules/address_steps.h"
#include "relay/gateway/rules/policy_key.h"
#include "relay/gateway/rules/rule_index.h"
#include "relay/gateway/rules/rule_use.h"
#include "relay/gateway/uplink/traffic_classes.h"

namespace satrelay::gateway {

class Policy {
 public:
  // Uses the rules, the peers, and the subnet of the gateway itself on the WAN side.
  explicit Policy(const config::Gateway& config);

  // The values of an IP packet with which rules are compared, and the peer that serves the packet's
  // far host.
  PolicyKey key_of(const Frame& frame, config::Direction direction) const;
  // The rule for a packet with this key, or none().
  const RulePtr& match(const PolicyKey& key) const {
    const auto found = index_->first_match(key);
    return found ? rules_[*found] : none_;
  }
  // The pseudo-rule for packets that match no rule. It bridges them.
  const RulePtr& none() const { return none_; }
  const std::vector<RulePtr>& rules() const { return rules_; }
  // The rule with this name or number; nullptr if there is none.
  ActiveRule* find(std::string_view name_or_number) const;

  // The peer with the longest prefix that contains `host`.
  std::optional<FarGatewayId> peer_for(const IpAddress& host) const;
  // The longest prefix of any peer that contains `host`.
  std::optional<IpPrefix> prefix_for(const IpAddress& host) const;
  // Whether `server`, for example a modem, has a link-local address or is in the gateway's own
  // subnet. Such a server is between the two gateways, so no peer reaches it. Returns false if
  // `server` is in the subnet, and also in a peer's prefix that is at least as long.
  bool is_on_own_segment(const IpAddress& server) const;

  // Looks up the classes of the rules by their names. Call this after any change of classes or
  // rules.
  void set_classes(const TrafficClasses& classes);

  // Makes the index for replace_rules(), which takes long with many rules. May be called in any
  // thread.
  static std::shared_ptr<const RuleIndex> index(const config::Gateway& config);
  // A rule keeps its counters if its name stays the same, or if it has no name and its content
  // stays the same, even if its position changes. Changes that the operator made at run time are
  // lost.
  void replace_rules(const std::vector<config::Rule>& rules,
                     std::shared_ptr<const RuleIndex> index);

 private:
  struct PeerPrefix {
    IpPrefix prefix;
    FarGatewayId peer;
  };
  const PeerPrefix* longest(const IpAddress& host) const;

  std::shared_ptr<const RuleIndex> index_;
  std::vector<RulePtr> rules_;  // in the order of the configuration
  RulePtr none_;
  std::vector<PeerPrefix> prefixes_;
  AddressSteps longest_;  // index in prefixes_ plus 1; 0 if no prefix matches
  IpPrefix own_segment_;
};

}  // namespace satrelay::gateway
