// Decides, for a connection or a packet, which rule it falls under and which peer stands before its
// far host. First match wins; without rules every connection towards a peer's prefixes is
// accelerated, and with rules what matches none is bridged.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/model/schema.h"
#include "pep/base/address.h"
#include "relay/gateway/rules/address_steps.h"
#include "relay/gateway/rules/policy_key.h"
#include "relay/gateway/rules/rule_index.h"
#include "relay/gateway/rules/rule_use.h"
#include "relay/gateway/uplink/traffic_classes.h"

namespace satrelay::gateway {

class Policy {
 public:
  // Takes the rules, the peers and the subnet that the gateway itself is in, on the WAN side.
  explicit Policy(const config::Gateway& config);

  // What packet rules look at, with the peer before its far host. `frame`: an IP packet.
  PolicyKey key_of(const Frame& frame, config::Direction direction) const;
  // The rule for it, or none().
  const RulePtr& match(const PolicyKey& key) const {
    const auto found = index_->first_match(key);
    return found ? rules_[*found] : none_;
  }
  // What is bridged as no rule matches.
  const RulePtr& none() const { return none_; }
  const std::vector<RulePtr>& rules() const { return rules_; }
  // By its name or its number; nullptr if there is none.
  ActiveRule* find(std::string_view name_or_number) const;

  // Index of the peer with the longest prefix that holds `host`.
  std::optional<std::size_t> peer_for(const IpAddress& host) const;
  // The prefix by which it is found.
  std::optional<IpPrefix> prefix_for(const IpAddress& host) const;
  // Whether `server` stands on the gateway's own segment, between the two gateways, where no peer
  // is to be asked for it: a modem, say. A peer's prefix within that subnet says otherwise.
  bool is_on_own_segment(const IpAddress& server) const;

  // The classes of the rules, by their names. To be called after any change of either.
  void set_classes(const TrafficClasses& classes);

  // What takes long with many rules, for replace_rules(); any thread may do it.
  static std::shared_ptr<const RuleIndex> index(const config::Gateway& config);
  // A rule that is as it was in the configuration, wherever it stands now, or that has the name of
  // an old one, goes on counting. All are as configured.
  void replace_rules(const std::vector<config::Rule>& rules,
                     std::shared_ptr<const RuleIndex> index);

 private:
  struct PeerPrefix {
    IpPrefix prefix;
    std::size_t peer;
  };
  const PeerPrefix* longest(const IpAddress& host) const;

  std::shared_ptr<const RuleIndex> index_;
  std::vector<RulePtr> rules_;  // in the order of the configuration
  RulePtr none_;
  std::vector<PeerPrefix> prefixes_;
  AddressSteps longest_;  // place in prefixes_ + 1; 0: none
  IpPrefix own_segment_;
};

}  // namespace satrelay::gateway
