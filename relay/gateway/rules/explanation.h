// Explains to an operator why a rule matches a packet or a connection.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "config/model/schema.h"
#include "pep/base/address.h"
#include "relay/gateway/counters.h"
#include "relay/gateway/rules/handshake.h"
#include "relay/gateway/rules/policy_key.h"

namespace satrelay::gateway {

enum class Criterion : std::uint8_t {
  kSource,
  kDestination,
  kPort,
  kProtocol,
  kVlan,
  kDscp,
  kDirection,
  kPeer,
};

constexpr const char* to_string(Criterion criterion) {
  constexpr const char* kNames[] = {"source", "destination", "port",      "protocol",
                                    "vlan",   "dscp",        "direction", "peer"};
  return kNames[static_cast<std::size_t>(criterion)];
}

// Returns the first criterion of `rule` that `key` does not meet; nullopt if the rule matches.
// RuleIndex finds the first match among many rules, and must agree with this function.
std::optional<Criterion> first_miss(const config::Rule& rule, const PolicyKey& key,
                                    const std::vector<config::Peer>& peers);

struct Explanation {
  static constexpr std::size_t kMostMisses = 20;
  struct Miss {
    std::uint32_t rule = 0;
    std::string name;
    std::optional<Criterion> criterion;
  };
  std::uint32_t rule = 0;  // number of the rule that matches; 0 if none matches
  config::Rule in_force;
  std::vector<Miss> misses;  // the rules before it, which do not match; at most kMostMisses of them
  std::size_t more_misses = 0;
  std::string peer;  // the peer that serves the far host; empty if there is none
  std::optional<IpPrefix> prefix;
  // The reason why a connection that opens now would be bridged; nullopt if it would not.
  std::optional<Counter> bridged_as;
  // Which side would answer the SYN of a connection that opens now, and why; nullopt if the
  // connection would not be relayed. Only the outermost VLAN is considered.
  std::optional<Handshake> handshake;
};

}  // namespace satrelay::gateway
