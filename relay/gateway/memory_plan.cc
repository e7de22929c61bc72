#include "relay/gateway/memory_plan.h"

#include <algorithm>

namespace satrelay::gateway {
namespace {

constexpr Duration kLinkTime = Duration::seconds(4);
constexpr ByteCount kSmallestArena = ByteCount(64ULL << 20);

const config::Link* find_link(const config::Gateway& config, const std::string& name) {
  const auto link = std::ranges::find(config.links, name, &config::Link::name);
  return link == config.links.end() ? nullptr : &*link;
}

std::uint64_t receive_rate(const config::Gateway& config, const config::Peer& peer) {
  const config::Link* link = find_link(config, peer.link);
  return link == nullptr ? 0 : std::max<std::uint64_t>(link->receive_rate.to_bits_per_second(), 1);
}

}  // namespace

MemoryPlan plan_memory(const config::Gateway& config) {
  MemoryPlan plan;
  plan.arena = config.limits.memory;
  if (plan.arena == ByteCount(0)) {
    for (const config::Link& link : config.links) {
      plan.arena += link.send_rate.bytes_in(kLinkTime) + link.receive_rate.bytes_in(kLinkTime);
    }
    plan.arena = std::max(plan.arena, kSmallestArena);
  }
  // Three eighths for credit, shared between peers by the rate at which they can fill it.
  const std::uint64_t credit = plan.arena.value() / 8 * 3;
  std::uint64_t rates = 0;
  for (const config::Peer& peer : config.peers) rates += receive_rate(config, peer);
  const auto explicit_limit = [&](std::uint64_t derived) {
    const std::uint64_t given = config.limits.flow_memory.value();
    return given == 0 ? derived : std::min(given, derived);
  };
  for (const config::Peer& peer : config.peers) {
    const std::uint64_t share =
        quotient(static_cast<Uint128>(credit) * receive_rate(config, peer), rates);
    plan.lane_receive_limit.push_back(share);
    // One flow that is read slowly leaves a quarter of its lane to the others.
    plan.flow_receive_limit.push_back(explicit_limit(share / 4 * 3));
  }
  plan.flow_send_limit = explicit_limit(credit / 4 * 3);
  plan.host_window = std::min(config.limits.host_window.value(), plan.arena.value() / 16);
  // Half of what is left beside credit, the margin and the part of the streams.
  plan.host_windows = plan.arena.value() / 64 * 15;
  return plan;
}

}  // namespace satrelay::gateway
