// The gateway's accounts of its memory and its flows, counted anew.
#include <array>
#include <string>

#include "relay/gateway/flows/account.h"
#include "relay/gateway/gateway_impl.h"

namespace satrelay::gateway {
namespace {

// Between two audits, calls of the engine: as many as there are flows to look at, several times
// over, so that a checked build stays usable.
constexpr std::uint64_t kFewestCalls = 1024;
constexpr std::uint64_t kCallsPerFlow = 4;

std::optional<std::string> audit_waiting(const FlowRelay& relay) {
  std::array<std::uint64_t, schedule::kClasses> counted{};
  const FlowStore& flows = relay.flows();
  for (std::uint32_t slot = flows.from(0); slot != kNoSlot; slot = flows.from(slot + 1)) {
    counted[flows[slot].traffic_class] += flows[slot].waiting();
  }
  for (std::size_t i = 0; i < counted.size(); ++i) {
    const std::uint64_t account = relay.waiting_bytes(static_cast<schedule::ClassId>(i));
    if (account != counted[i]) return differ("bytes that wait", account, counted[i]);
  }
  return std::nullopt;
}

}  // namespace

ArenaUse Gateway::arena_use() const {
  ArenaUse use;
  impl_->flows.flows().add_held(use);
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
  if (auto wrong = impl_->flows.flows().audit()) return wrong;
  if (auto wrong = audit_waiting(impl_->flows)) return wrong;
  std::uint64_t stored = 0;
  for (const auto& peer : impl_->peers) stored += peer->session.bytes_stored();
  if (const std::uint64_t account = *impl_->flows.stored_of_peers(); stored != account) {
    return differ("bytes of peers", account, stored);
  }
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
      impl_->calls + std::max(kFewestCalls, kCallsPerFlow * impl_->flows.flows().size());
  SATRELAY_CHECK(!audit());
#endif
}

}  // namespace satrelay::gateway
