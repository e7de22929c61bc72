// Events that concern all flows of a peer, or all flows. A flow learns of them before anything else
// happens to it. A scan of all flows, some in each call, reaches the other ones.
#include "relay/gateway/flows/relay/flow_relay.h"

namespace satrelay::gateway {
namespace {

// In one call. Each flow may have its stream opened, or its host reset.
constexpr int kFlowsPerStep = 64;

}  // namespace

// A scan makes sure that each flow learns of the event.
void FlowRelay::upset(std::size_t peer, PeerEpochLog::Kind kind) {
  Peer& p = *peers_[peer];
  p.epoch_log.add(kind);
  ++epoch_log_;
  p.flows_behind = p.flows;
  // The list of the peer's flows is complete when the last of them has been visited.
  if (p.flows_behind > 0) p.control_messages.hold_list();
  flows_.begin_scan();
}

void FlowRelay::bring_up_to_date(std::uint32_t slot, Instant now) {
  Flow& f = flow(slot);
  f.epochs_looked_at = epoch_log_;
  hosts_.follow_move(f, now);
  Peer& p = *peers_[f.peer];
  if (f.epoch_log == p.epoch_log.count()) return;
  const PeerEpochLog::Kind kind = p.epoch_log.first_after(f.epoch_log);
  f.epoch_log = p.epoch_log.count();
  f.stream = Flow::kNoStream;
  lose_stream(slot, kind, now);
  if (--p.flows_behind == 0) p.control_messages.release_list(now);
}

// The session no longer has the stream.
void FlowRelay::lose_stream(std::uint32_t slot, PeerEpochLog::Kind kind, Instant now) {
  Flow& f = flow(slot);
  // If the stream was already over, the flow has all that it needs from the peer, and ends by
  // itself.
  if (!f.state.has_stream()) return;
  const bool restarted = kind == PeerEpochLog::Kind::kRestarted;
  if (restarted) remember(f);
  end_without_stream(
      slot, restarted ? Counter::kFlowsResetPeerRestart : Counter::kFlowsResetPeerClosed, now);
}

void FlowRelay::end_without_stream(std::uint32_t slot, Counter reason, Instant now) {
  Flow& f = flow(slot);
  f.state.end_stream();
  f.forget_inbound();
  if (f.endpoint.state() == tcp::State::kTimeWait && !f.endpoint.holds_fin()) return;
  if (!f.endpoint.is_closed()) {
    count_end(f, reason);
    f.endpoint.abort(now);
  }
  queue(slot);
}

// The peer was silent for too long, or has reported nothing of its server. If the peer is still
// silent, it may have been started anew, so the flow is remembered for it.
void FlowRelay::give_up(std::uint32_t slot, Instant now) {
  Flow& f = flow(slot);
  const bool is_known = f.state.has_stream();
  if (is_known && session_of(f).peer_state() != stp::PeerState::kAlive) remember(f);
  reset_flow(slot, stp::ResetReason::kTimeout, Counter::kFlowsResetPeerLost, now);
}

void FlowRelay::go_on(Instant now) {
  for (int visited = 0; flows_.scan_active() && visited < kFlowsPerStep; ++visited) {
    work_.add();
    const std::uint32_t slot = flows_.step_scan();
    if (slot != kNoSlot) look_at(slot, now);
  }
  hosts_.go_on(now);
}

void FlowRelay::look_at(std::uint32_t slot, Instant now) {
  catch_up(slot, now);
  Flow& f = flow(slot);
  if (has_left(f, now)) {
    reset_flow(slot, stp::ResetReason::kTimeout, Counter::kFlowsResetMoved, now);
    return;
  }
  if (f.awaits_stream()) advance(slot, now);  // the peer may be back, or closed
  note_owing(f, now);
  if (!f.owes_since().is_never()) {
    flows_.arm(slot, deadline(f, session_of(f), limits_, give_up_after_));
  }
  if (f.configurations == configurations_) return;
  f.configurations = configurations_;
  // The flow's timers may now be earlier, and its class may have changed.
  if (f.state.has_stream()) streams_.join_class(f);
  queue(slot);
}

// The host is silent here, and the peer of the flow has found the host on its own LAN. A flow that
// began while the host was asked for may belong to a host that has come back.
bool FlowRelay::has_left(const Flow& f, Instant now) const {
  const auto* const check =
      departures_.find({f.key.local, f.key.vlans}, f.to_host.destination, configured(f.peer), now);
  return check != nullptr && check->state == PresenceChecks::State::kSilent &&
         f.created < check->began && !f.endpoint.is_closed();
}

}  // namespace satrelay::gateway
