#include "relay/gateway/flows/ending/flow_ending.h"

#include "relay/gateway/flows/flow_modes.h"

namespace satrelay::gateway {

void FlowEnding::count(Flow& f, Counter counter) {
  if (f.state.reason() != Counter::kCount) return;
  f.state.set_reason(counter);
  parts_.counters.add(counter);
}

void FlowEnding::reset(std::uint32_t slot, stp::ResetReason reason, Counter counter, Instant now) {
  Flow& f = parts_.flows[slot];
  parts_.streams.reset(f, reason, now);
  count(f, counter);
  f.endpoint.abort(now);
  parts_.queue(slot);
}

void FlowEnding::reset_without_stream(std::uint32_t slot, Counter reason, Instant now) {
  Flow& f = parts_.flows[slot];
  f.state.end_stream();
  f.forget_inbound();
  if (f.endpoint.state() == tcp::State::kTimeWait && !f.endpoint.receiving().holds_fin()) return;
  if (!f.endpoint.is_closed()) {
    count(f, reason);
    f.endpoint.abort(now);
  }
  parts_.queue(slot);
}

// A SYN that waits for the far host is answered with RST only if the far host refused it. If the
// far host did not answer, the client gets no answer either, and tries again as it would without a
// gateway. If the far gateway has no room, or accepts no flow of this client, a second attempt
// would fail in the same way, so the next SYN is bridged. If the far host already has a connection
// with this 4-tuple, all SYNs are bridged for a while, so that a forger disturbs that connection
// only once.
void FlowEnding::abort_or_abandon(Flow& f, stp::ResetReason reason, Instant now) {
  if (waits_for_server(f) && reason != stp::ResetReason::kRefused) {
    if (reason == stp::ResetReason::kNoResources || reason == stp::ResetReason::kPolicy) {
      parts_.records.bridged_syns.remember(f.key, f.beginning.syn_sequence, now);
    }
    if (reason == stp::ResetReason::kInUse) {
      parts_.records.refused_in_use.remember(f.key, 0, now);
    }
    f.endpoint.abandon();
  } else {
    f.endpoint.abort(now);
  }
}

void FlowEnding::hand_over(Flow& f, const stp::IcmpRefusal& refusal, Instant now) {
  if (parts_.session_of(f).agreed().icmp_refusals()) parts_.streams.reset(f, refusal, now);
}

void FlowEnding::give_up(std::uint32_t slot, Instant now) {
  Flow& f = parts_.flows[slot];
  const bool is_known = f.state.has_stream();
  if (is_known && parts_.session_of(f).peer_state() != stp::PeerState::kAlive) remember(f);
  reset(slot, stp::ResetReason::kTimeout, Counter::kFlowsResetPeerLost, now);
}

void FlowEnding::lose_stream(std::uint32_t slot, PeerEpochLog::Kind kind, Instant now) {
  Flow& f = parts_.flows[slot];
  // If the stream was already over, the flow needs nothing more from the peer, and ends by itself.
  if (!f.state.has_stream()) return;
  const bool restarted = kind == PeerEpochLog::Kind::kRestarted;
  if (restarted) remember(f);
  reset_without_stream(
      slot, restarted ? Counter::kFlowsResetPeerRestart : Counter::kFlowsResetPeerClosed, now);
}

void FlowEnding::remember(const Flow& f) {
  const ClientSide client = f.origin == Origin::kPeer ? ClientSide::kHere : ClientSide::kPeer;
  parts_.lane_of(f).control_messages.remember(f.metadata(), client);
  parts_.counters.add(Counter::kFlowsListed);
}

void FlowEnding::handle_closed_endpoint(Flow& f, Instant now) {
  f.state.set_far_end(FlowState::FarEnd::kClosed);
  stp::ResetReason reason = stp::ResetReason::kNone;
  switch (f.endpoint.lifecycle().reason()) {
    case tcp::CloseReason::kNone:
    case tcp::CloseReason::kAborted:  // the caller of abort() counts it and informs the peer
      return;
    case tcp::CloseReason::kResetByPeer:
      count(f, Counter::kFlowsResetByHost);
      if (resets_.begin_to_peer(f, now)) return;
      reason = stp::ResetReason::kHostReset;
      break;
    case tcp::CloseReason::kRefused:
      reason = stp::ResetReason::kRefused;
      count(f, Counter::kFlowsRefused);
      break;
    case tcp::CloseReason::kUnreachable:
      reason = stp::ResetReason::kNoRoute;
      count(f, Counter::kFlowsUnreachable);
      break;
    case tcp::CloseReason::kTimeout:
      reason =
          f.state.is_established() ? stp::ResetReason::kTimeout : stp::ResetReason::kUnreachable;
      count(f, f.state.is_established()    ? Counter::kFlowsResetTimeout
               : f.origin == Origin::kPeer ? Counter::kFlowsUnreachable
                                           : Counter::kFlowsHandshakeTimeout);
      break;
  }
  parts_.streams.reset(f, reason, now);
}

bool FlowEnding::remove_if_over(std::uint32_t slot, Instant now) {
  Flow& f = parts_.flows[slot];
  if (!f.state.has_stream()) {
    if (f.endpoint.is_closed()) {
      remove(slot, now);
      return true;
    }
    if (const auto state = f.endpoint.time_wait()) {
      retire(slot, *state, now);
      return true;
    }
  }
  if (!f.state.is_over() && f.is_over()) {
    parts_.flows.note_over(f);
    f.endpoint.memory().give_up();
  }
  return false;
}

void FlowEnding::remove(std::uint32_t slot, Instant now) {
  Flow& f = parts_.flows[slot];
  count(f, Counter::kFlowsFinished);
  if (f.state.is_established()) parts_.records.ended.remember(f.key, 0, now);
  parts_.journal.release(f.journal_place);
  release_slot(slot, now);
}

// Both hosts have received all that they need from the flow. Late segments can be answered without
// the flow.
void FlowEnding::retire(std::uint32_t slot, const tcp::TimeWait& state, Instant now) {
  Flow& f = parts_.flows[slot];
  count(f, Counter::kFlowsFinished);
  parts_.journal.release(f.journal_place);
  late_.add(f.key, state, now);
  release_slot(slot, now);
}

void FlowEnding::release_slot(std::uint32_t slot, Instant now) {
  Flow& f = parts_.flows[slot];
  Lane& lane = parts_.lane_of(f);
  reports_.handle_end(f, now);
  parts_.unconfirmed.remove(slot);
  parts_.streams.leave(f);
  --lane.flows;
  parts_.quotas.end(f, lane.address.peer);
  parts_.flows.remove(slot);
}

}  // namespace satrelay::gateway
