#include "relay/gateway/policy.h"

#include <algorithm>
#include <utility>

namespace satrelay::gateway {
namespace {

bool any_contains(const std::vector<IpPrefix>& prefixes, const IpAddress& address) {
  return prefixes.empty() || std::ranges::any_of(prefixes, [&](const IpPrefix& prefix) {
           return prefix.contains(address);
         });
}

bool any_contains(const std::vector<config::PortRange>& ranges, std::uint16_t port) {
  return ranges.empty() || std::ranges::any_of(ranges, [&](const config::PortRange& range) {
           return range.first <= port && port <= range.last;
         });
}

}  // namespace

Policy::Policy(std::vector<config::Rule> rules, const std::vector<config::Peer>& peers)
    : rules_(std::move(rules)) {
  if (rules_.empty()) rules_.emplace_back();
  for (std::size_t i = 0; i < peers.size(); ++i) {
    for (const IpPrefix& prefix : peers[i].prefixes) prefixes_.push_back({prefix, i});
  }
  std::ranges::stable_sort(prefixes_, [](const PeerPrefix& a, const PeerPrefix& b) {
    return a.prefix.length > b.prefix.length;
  });
}

const config::Rule* Policy::match(const IpAddress& client, const IpAddress& server,
                                  std::uint16_t server_port) const {
  const auto rule = std::ranges::find_if(rules_, [&](const config::Rule& candidate) {
    return any_contains(candidate.match.source, client) &&
           any_contains(candidate.match.destination, server) &&
           any_contains(candidate.match.port, server_port);
  });
  return rule == rules_.end() ? nullptr : &*rule;
}

std::optional<std::size_t> Policy::peer_for(const IpAddress& server) const {
  for (const PeerPrefix& entry : prefixes_) {
    if (entry.prefix.contains(server)) return entry.peer;
  }
  return std::nullopt;
}

}  // namespace satrelay::gateway
