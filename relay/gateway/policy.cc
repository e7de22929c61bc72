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

// RFC 3927, RFC 4291 section 2.5.6.
bool is_link_local(const IpAddress& address) {
  const auto& o = address.octets();
  return address.is_v4() ? o[0] == 169 && o[1] == 254 : o[0] == 0xfe && (o[1] & 0xc0U) == 0x80;
}

}  // namespace

Policy::Policy(std::vector<config::Rule> rules, const std::vector<config::Peer>& peers,
               std::optional<IpPrefix> own_segment)
    : rules_(std::move(rules)), own_segment_(own_segment) {
  if (rules_.empty()) rules_.emplace_back();
  connections_.resize(rules_.size() + 1);
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

const Policy::PeerPrefix* Policy::longest(const IpAddress& server) const {
  const auto found = std::ranges::find_if(
      prefixes_, [&](const PeerPrefix& entry) { return entry.prefix.contains(server); });
  return found == prefixes_.end() ? nullptr : &*found;
}

void Policy::count(const config::Rule* rule) {
  const auto place =
      rule == nullptr ? rules_.size() : static_cast<std::size_t>(rule - rules_.data());
  ++connections_[place];
}

std::optional<std::size_t> Policy::peer_for(const IpAddress& server) const {
  const PeerPrefix* found = longest(server);
  return found == nullptr ? std::nullopt : std::optional(found->peer);
}

bool Policy::is_on_own_segment(const IpAddress& server) const {
  if (is_link_local(server)) return true;
  if (!own_segment_ || !own_segment_->contains(server)) return false;
  const PeerPrefix* found = longest(server);
  return found == nullptr || found->prefix.length < own_segment_->length;
}

}  // namespace satrelay::gateway
