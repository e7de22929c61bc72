// Counts the gateway's memory and flows anew, and compares them with its accounts.
#include <array>
#include <map>
#include <string>
#include <vector>

#include "relay/gateway/flows/account.h"
#include "relay/gateway/gateway_impl.h"

namespace satrelay::gateway {
namespace {

// Number of engine calls between two audits: kCallsPerFlow for each flow, and at least
// kFewestCalls. An audit visits all flows. So with many flows audits are rare, and a build with
// checks stays usable.
constexpr std::uint64_t kFewestCalls = 1024;
constexpr std::uint64_t kCallsPerFlow = 4;

// Audits each peer's part of the arena: the bytes that the peer's sessions store, the blocks that
// the part uses, and the free blocks that are reserved for the part.
std::optional<std::string> audit_arena(const GatewayParts& parts) {
  IdVector<FarGatewayId, std::uint64_t> stored(parts.peers.size());
  for (const auto& lane : parts.lanes)
    stored[lane->address.peer] += lane->session.streams().bytes_stored();
  std::uint64_t held = 0, kept = 0, reserves = 0;
  for (const FarGatewayId id : parts.peers.ids()) {
    const Arena& part = parts.peers[id]->arena;
    if (stored[id] != part.promise_used()) {
      return differ("bytes of a peer", part.promise_used(), stored[id]);
    }
    held += part.held();
    kept += part.kept();
    reserves += part.reserves_held();
  }
  const Arena& arena = parts.arena;
  const std::uint64_t used = arena.used_blocks() * arena.block_size();
  if (used != held) return differ("bytes that parts hold", used, held);
  if (kept != arena.kept_for_all()) return differ("bytes kept", arena.kept_for_all(), kept);
  if (reserves != arena.reserves_taken()) {
    return differ("reserves of parts", arena.reserves_taken(), reserves);
  }
  return std::nullopt;
}

// Audits the flows and bytes of each peer and of each host of the LAN.
std::optional<std::string> audit_quotas(const GatewayParts& parts) {
  const FlowQuotas& quotas = parts.flows.quotas();
  IdVector<FarGatewayId, std::uint64_t> of_peer(parts.peers.size()), waiting(parts.peers.size());
  std::map<IpAddress, LanHosts::Host> of_host;
  const FlowStore& flows = parts.flows.flows();
  for (std::uint32_t slot = flows.from(0); slot != kNoSlot; slot = flows.from(slot + 1)) {
    const Flow& f = flows[slot];
    const FarGatewayId peer = parts.lanes[f.lane]->address.peer;
    LanHosts::Host& host = of_host[f.key.local];
    ++of_peer[peer];
    ++host.flows;
    host.stored += FlowQuotas::stored(f);
    if (!f.is_half_open()) continue;
    ++waiting[peer];
    ++host.half_open;
  }
  for (const FarGatewayId id : of_peer.ids()) {
    if (quotas.flows().held(id) != of_peer[id]) {
      return differ("flows of a peer", quotas.flows().held(id), of_peer[id]);
    }
    if (quotas.half_open().held(id) != waiting[id]) {
      return differ("half-open flows of a peer", quotas.half_open().held(id), waiting[id]);
    }
  }
  if (quotas.hosts().size() != of_host.size()) {
    return differ("hosts of the LAN", quotas.hosts().size(), of_host.size());
  }
  for (const auto& [address, counted] : of_host) {
    const LanHosts::Index at = quotas.hosts().find(address);
    if (at == LanHosts::kNone) return "a host of the LAN is not known";
    const LanHosts::Host& host = quotas.hosts()[at];
    if (host.flows != counted.flows) return differ("a host's flows", host.flows, counted.flows);
    if (host.half_open != counted.half_open) {
      return differ("a host's half-open flows", host.half_open, counted.half_open);
    }
    if (host.stored != counted.stored) {
      return differ("a host's bytes", host.stored, counted.stored);
    }
  }
  return std::nullopt;
}

std::optional<std::string> audit_waiting(const FlowRelay& relay) {
  std::array<std::uint64_t, schedule::kClasses> counted{};
  const FlowStore& flows = relay.flows();
  for (std::uint32_t slot = flows.from(0); slot != kNoSlot; slot = flows.from(slot + 1)) {
    counted[flows[slot].traffic_class] += flows[slot].waiting();
  }
  for (std::size_t i = 0; i < counted.size(); ++i) {
    const std::uint64_t account = relay.streams().waiting(static_cast<schedule::ClassId>(i));
    if (account != counted[i]) return differ("bytes that wait", account, counted[i]);
  }
  return std::nullopt;
}

}  // namespace

ArenaUse Gateway::arena_use() const {
  const Impl& impl = engine_.unsettled();
  ArenaUse use;
  impl.parts.flows.flows().add_held(use);
  for (const auto& lane : impl.parts.lanes) {
    const stp::BlocksHeld held = lane->session.blocks_held();
    use.to_peers += held.to_peer;
    use.from_peers += held.from_peer;
    use.reserves += held.reserves;
  }
  return use;
}

std::optional<std::string> Gateway::audit() const {
  const Impl& impl = engine_.unsettled();
  for (const auto& lane : impl.parts.lanes) {
    if (auto wrong = lane->session.audit()) return "peer " + lane->peer.config.name + ": " + *wrong;
  }
  if (auto wrong = impl.parts.flows.flows().audit()) return wrong;
  if (auto wrong = audit_waiting(impl.parts.flows)) return wrong;
  if (auto wrong = audit_arena(impl.parts)) return wrong;
  if (auto wrong = audit_quotas(impl.parts)) return wrong;
  const ArenaUse use = arena_use();
  const Arena& arena = impl.parts.arena;
  const std::uint64_t blocks = arena.used_blocks() - arena.blocks_of_reserves();
  if (use.blocks() != blocks) return differ("blocks of the arena", blocks, use.blocks());
  if (use.reserves != arena.reserves_taken()) {
    return differ("reserves", arena.reserves_taken(), use.reserves);
  }
  return std::nullopt;
}

void Gateway::audit_at_intervals() {
#ifndef NDEBUG
  Impl& impl = engine_.unsettled();
  if (++impl.calls < impl.next_audit) return;
  impl.next_audit =
      impl.calls + std::max(kFewestCalls, kCallsPerFlow * impl.parts.flows.flows().size());
  SATRELAY_CHECK(!audit());
#endif
}

}  // namespace satrelay::gateway
