#include "relay/gateway/rules/explanation.h"

#include <algorithm>

#include "relay/gateway/rules/rule_index.h"

namespace satrelay::gateway {

std::optional<Criterion> first_miss(const config::Rule& rule, const PolicyKey& key,
                                    const std::vector<config::Peer>& peers) {
  using Hidden = PolicyKey::Hidden;
  const config::Match& match = rule.match;
  // an absent criterion matches everything
  const auto misses = [](const auto& wanted, const auto& is_met_by) {
    return !wanted.empty() && std::ranges::none_of(wanted, is_met_by);
  };
  const auto equals = [](const auto& value) {
    return [&value](const auto& wanted) { return wanted == value; };
  };
  const auto holds = [](const IpAddress& address) {
    return [&address](const IpPrefix& prefix) { return prefix.contains(address); };
  };
  if (misses(match.source, holds(key.source))) return Criterion::kSource;
  if (misses(match.destination, holds(key.destination))) return Criterion::kDestination;
  if (misses(match.port, [&](const config::PortRange& range) {
        if (key.hidden != Hidden::kNothing) return bars(rule);
        return range.first <= key.port && key.port <= range.last;
      })) {
    return Criterion::kPort;
  }
  if (misses(match.protocol, [&](std::uint8_t wanted) {
        if (key.hidden == Hidden::kTransport) return bars(rule);
        return wanted == key.protocol || std::ranges::count(key.extensions.numbers(), wanted) > 0;
      })) {
    return Criterion::kProtocol;
  }
  if (misses(match.vlan, equals(key.vlan))) return Criterion::kVlan;
  if (misses(match.dscp, equals(key.dscp))) return Criterion::kDscp;
  if (match.direction && *match.direction != key.direction) return Criterion::kDirection;
  if (misses(match.peer, [&](const std::string& name) {
        return key.peer && peers[key.peer->index()].name == name;
      })) {
    return Criterion::kPeer;
  }
  return std::nullopt;
}

}  // namespace satrelay::gateway
