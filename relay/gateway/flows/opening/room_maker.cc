#include "relay/gateway/flows/opening/room_maker.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "relay/gateway/flows/flow_deadline.h"

namespace satrelay::gateway {
namespace {

// R2 of RFC 9293 section 3.8.3: after this time a host may abandon a connection that makes no
// progress.
constexpr Duration kStillFor = Duration::seconds(100);

constexpr int kFlowsPerSearch = 64;

}  // namespace

// The search checks the next flows in the order of slots. It prefers a flow with a deferred reset,
// since this flow's connection was already reset. If there is none, it chooses a flow that makes no
// progress. If there are several candidates, it chooses a flow of the host with the most flows, and
// among these the flow that has waited longest since its reset or since its last progress.
void RoomMaker::handle_timeout(Instant now) {
  if (!wanted_ || !parts_.room_pace.take(now)) return;
  const Wanted wanted = *std::exchange(wanted_, std::nullopt);
  const std::optional<Counter> lack = room_.lack_of_room(wanted.lane, wanted.host);
  if (!lack) return;
  std::uint32_t chosen = kNoSlot;
  std::tuple<bool, std::uint32_t, Duration> most;
  for (int looked_at = 0; looked_at < kFlowsPerSearch; ++looked_at) {
    const std::uint32_t slot = parts_.flows.from(search_next_);
    search_next_ = slot == kNoSlot ? 0 : slot + 1;
    if (slot == kNoSlot) break;
    parts_.work.add();
    epochs_.catch_up(slot, now);
    const Flow& f = parts_.flows[slot];
    const bool is_deferred_reset = f.rare().deferred_reset != nullptr;
    const Instant since =
        is_deferred_reset ? f.rare().deferred_reset->began : still_since(f, parts_.session_of(f));
    const Duration least = is_deferred_reset ? Duration::zero() : kStillFor;
    if (since.is_never() || now - since < least || !makes_room_for(f, wanted, *lack)) continue;
    const std::tuple candidate(is_deferred_reset, parts_.quotas.hosts()[f.lan.host].flows,
                               now - since);
    if (chosen != kNoSlot && candidate <= most) continue;
    chosen = slot;
    most = candidate;
  }
  if (chosen == kNoSlot) return;
  if (Flow& f = parts_.flows[chosen]; f.rare().deferred_reset) {
    resets_.end(f, now);
    parts_.queue(chosen);
  } else {
    ending_.reset(chosen, stp::ResetReason::kTimeout, Counter::kFlowsResetForRoom, now);
  }
}

// Whether the flow may be ended to make room for `wanted`. The wanted host must be the flow's own
// host, or have fewer flows. The wanted peer must be the flow's own peer, or have fewer flows. If
// memory is short, the wanted peer must be the flow's own peer, since each peer has its own part of
// the memory.
bool RoomMaker::makes_room_for(const Flow& f, const Wanted& wanted, Counter lack) const {
  const LanHosts& hosts = parts_.quotas.hosts();
  const EqualParts<FarGatewayId>& peers = parts_.quotas.flows();
  const LanHosts::Index asks = hosts.find(wanted.host);
  const std::uint32_t of_host = asks == LanHosts::kNone ? 0 : hosts[asks].flows;
  const FarGatewayId of = parts_.peer_of(f.lane), to = parts_.peer_of(wanted.lane);
  const bool is_for_host = f.lan.host == asks || hosts[f.lan.host].flows > of_host;
  if (lack == Counter::kBridgedMemoryLow) return is_for_host && of == to;
  return is_for_host && (of == to || peers.held(of) > peers.held(to));
}

}  // namespace satrelay::gateway
