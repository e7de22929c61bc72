// The gateway's accounts of its memory and its flows, counted anew.
#include <string>

#include "relay/gateway/gateway_impl.h"

namespace satrelay::gateway {
namespace {

// Between two audits, calls of the engine: as many as there are flows to look at, several times
// over, so that a checked build stays usable.
constexpr std::uint64_t kFewestCalls = 1024;
constexpr std::uint64_t kCallsPerFlow = 4;

std::string differ(const char* what, std::uint64_t account, std::uint64_t counted) {
  return std::string(what) + ": account " + std::to_string(account) + ", counted " +
         std::to_string(counted);
}

}  // namespace

void FlowRelay::add_held(ArenaUse& use) const {
  for (const auto& each : flows_) {
    if (each == nullptr) continue;
    const auto held = each->endpoint.blocks_held();
    use.from_hosts += held.received;
    use.to_hosts += held.to_send;
    use.reserves += held.reserves;
  }
}

std::optional<std::string> FlowRelay::audit() const {
  std::uint64_t live = 0, half_open = 0, stored = 0;
  for (const auto& each : flows_) {
    if (each == nullptr) continue;
    ++live;
    half_open += each->half_open ? 1 : 0;
    if (!each->endpoint.received().is_stored()) {
      return "a host's byte lies nowhere: flow " + std::to_string(each->id);
    }
  }
  if (live != live_) return differ("flows", live_, live);
  if (half_open != half_open_) return differ("half-open flows", half_open_, half_open);
  for (const auto& peer : peers_) stored += peer->session.bytes_stored();
  if (stored != stored_of_peers_) return differ("bytes of peers", stored_of_peers_, stored);
  return std::nullopt;
}

ArenaUse Gateway::arena_use() const {
  ArenaUse use;
  impl_->flows.add_held(use);
  for (const auto& peer : impl_->peers) {
    const stp::BlocksHeld held = peer->session.blocks_held();
    use.to_peers += held.to_peer;
    use.from_peers += held.from_peer;
    use.reserves += held.reserves;
  }
  return use;
}

std::optional<std::string> Gateway::audit() const {
  for (const auto& peer : impl_->peers) {
    if (auto wrong = peer->session.audit()) return "peer " + peer->config.name + ": " + *wrong;
  }
  if (auto wrong = impl_->flows.audit()) return wrong;
  const ArenaUse use = arena_use();
  const Arena& arena = impl_->arena;
  const std::uint64_t blocks = arena.used_blocks() - arena.blocks_of_reserves();
  if (use.blocks() != blocks) return differ("blocks of the arena", blocks, use.blocks());
  if (use.reserves != arena.reserves_taken()) {
    return differ("reserves", arena.reserves_taken(), use.reserves);
  }
  return std::nullopt;
}

void Gateway::audit_at_intervals() {
#ifndef NDEBUG
  if (++impl_->calls < impl_->next_audit) return;
  impl_->next_audit =
      impl_->calls + std::max(kFewestCalls, kCallsPerFlow * impl_->flows.flow_count());
  SATRELAY_CHECK(!audit());
#endif
}

}  // namespace satrelay::gateway
