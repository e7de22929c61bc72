// Why a packet or a connection falls under the rule that it does, for an operator to read.
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

// The first criterion of `rule` that `key` does not meet; nullopt: it matches. This says what
// matching means, rule by rule; RuleIndex finds the first of many.
std::optional<Criterion> first_miss(const config::Rule& rule, const PolicyKey& key,
                                    const std::vector<config::Peer>& peers);

struct Explanation {
  static constexpr std::size_t kMostMisses = 20;
  struct Miss {
    std::uint32_t rule = 0;
    std::string name;
    std::optional<Criterion> criterion;
  };
  std::uint32_t rule = 0;  // under which it falls; 0: none
  config::Rule in_force;
  std::vector<Miss> misses;  // of the rules before, the first ones
  std::size_t more_misses = 0;
  std::string peer;  // before the far host; "": none
  std::optional<IpPrefix> prefix;
  // A connection that would be opened now: why it would be bridged.
  std::optional<Counter> bridged_as;
  // One that would be relayed: who would answer its SYN, and why. Of the outermost VLAN only.
  std::optional<Handshake> handshake;
};

}  // namespace satrelay::gateway
