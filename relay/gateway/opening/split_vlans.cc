#include "relay/gateway/opening/split_vlans.h"

#include <algorithm>
#include <span>

namespace satrelay::gateway {
namespace {

FlowKey hosts_of(const FlowKey& key) { return untagged(pair_of(key)); }

std::uint32_t number_of(const FlowKey& key) {
  static_assert(wire::kMaxVlanTags == 2);
  return (std::uint32_t{key.vlans[0]} << 16) | key.vlans[1];
}

}  // namespace

void SplitVlans::note(const FlowKey& key, FarGatewayId peer, Instant now) {
  pairs_.remember(hosts_of(key), number_of(key), now);
  std::erase_if(vlans_, [now](const Vlan& vlan) { return vlan.until <= now; });
  auto vlan = std::ranges::find_if(
      vlans_, [&](const Vlan& each) { return each.vlans == key.vlans && each.peer == peer; });
  if (vlan == vlans_.end()) {
    if (vlans_.size() == kMostVlans)
      vlans_.erase(std::ranges::min_element(vlans_, {}, &Vlan::until));
    vlan = vlans_.insert(vlans_.end(), {.vlans = key.vlans, .peer = peer});
  }
  vlan->until = now + kKept;
  const auto known = std::span(vlan->servers).first(vlan->count);
  if (vlan->count < kServers && std::ranges::find(known, key.remote) == known.end()) {
    vlan->servers[vlan->count++] = key.remote;
  }
}

bool SplitVlans::has(const FlowKey& key, FarGatewayId peer, Instant now) const {
  if (pairs_.is_empty(now)) return false;  // an entry of vlans_ expires no later than its last pair
  if (pairs_.recalls(hosts_of(key), number_of(key), now)) return true;
  return std::ranges::any_of(vlans_, [&](const Vlan& vlan) {
    return vlan.vlans == key.vlans && vlan.peer == peer && vlan.count == kServers &&
           now < vlan.until;
  });
}

void SplitVlans::look_at_answer(const FlowKey& key, Instant now) {
  const auto questions = pairs_.number_of(hosts_of(key), now);
  if (!questions || *questions == number_of(key)) return;
  pairs_.remember(hosts_of(key), *questions, now);
  for (Vlan& vlan : vlans_) {
    FlowKey asked;
    asked.vlans = vlan.vlans;
    const auto known = std::span(vlan.servers).first(vlan.count);
    const bool is_its =
        number_of(asked) == *questions && std::ranges::find(known, key.remote) != known.end();
    if (is_its && now < vlan.until) vlan.until = now + kKept;
  }
}

}  // namespace satrelay::gateway
