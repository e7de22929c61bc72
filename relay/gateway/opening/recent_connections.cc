#include "relay/gateway/opening/recent_connections.h"

#include <algorithm>
#include <span>

namespace satrelay::gateway {

// A set of kWays entries has two connections on average.
RecentConnections::RecentConnections(HashKey key, Duration memory, std::size_t connections)
    : key_(key), memory_(memory), entries_(std::max(connections, kFewest) / 2 * kWays) {}

RecentConnections::Entry& RecentConnections::place_for(std::uint64_t hash) {
  const auto set = std::span(entries_).subspan(set_of(hash), kWays);
  const auto place = std::ranges::find(set, hash, &Entry::hash);
  return place != set.end() ? *place : *std::ranges::min_element(set, {}, &Entry::until);
}

void RecentConnections::remember(const FlowKey& flow, std::uint32_t number, Instant now) {
  const std::uint64_t hash = hash_flow(key_, flow);
  place_for(hash) = {hash, now + memory_, number};
  empty_at_ = later(empty_at_, now + memory_);
}

std::optional<std::uint32_t> RecentConnections::number_of(const FlowKey& flow, Instant now) const {
  if (is_empty(now)) return std::nullopt;
  const std::uint64_t hash = hash_flow(key_, flow);
  const auto set = std::span(entries_).subspan(set_of(hash), kWays);
  const auto place = std::ranges::find(set, hash, &Entry::hash);
  if (place == set.end() || now >= place->until) return std::nullopt;
  return place->number;
}

bool RecentConnections::recalls(const FlowKey& flow, std::uint32_t number, Instant now) const {
  return number_of(flow, now) == number;
}

void RecentConnections::forget(const FlowKey& flow) {
  const std::uint64_t hash = hash_flow(key_, flow);
  const auto set = std::span(entries_).subspan(set_of(hash), kWays);
  const auto place = std::ranges::find(set, hash, &Entry::hash);
  if (place != set.end()) *place = Entry();
}

}  // namespace satrelay::gateway
