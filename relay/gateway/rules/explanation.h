// Explains to an operator why a rule matches a packet or a connection.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "config/model/schema.h"
#include "pep/base/address.h"
#include "pep/base/units.h"
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

// The fate of a packet.
enum class Outcome : std::uint8_t { kRelayed, kBridged, kDropped, kReset };

constexpr const char* to_string(Outcome outcome) {
  constexpr const char* kNames[] = {"relayed", "bridged", "dropped", "reset"};
  return kNames[static_cast<std::size_t>(outcome)];
}

// Where a bridged frame waits for the link, and with which rates.
struct BridgedTurn {
  std::string traffic_class;  // the class of the frame
  std::string turn;           // the class whose turn the frame takes: its own class, or `relayed`
  std::uint32_t weight = 0;
  BitRate guaranteed, maximum;  // zero: none
};

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
  Outcome outcome = Outcome::kRelayed;
  // Whether the rule relays or resets, and does neither here, because the packet is not TCP.
  bool is_for_tcp_only = false;
  // Why a connection that opens now, or a packet that is not TCP, would be bridged; nullopt if it
  // would not.
  std::optional<Counter> bridged_as;
  // nullopt if nothing is bridged, or if the packet comes from the WAN: then it leaves at once.
  std::optional<BridgedTurn> bridged_turn;
  // Which side would answer the SYN of a connection that opens now, and why; nullopt if the
  // connection would not be relayed. Only the outermost VLAN is considered.
  std::optional<Handshake> handshake;
};

}  // namespace satrelay::gateway
