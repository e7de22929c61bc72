#include "relay/gateway/flows/transfer/peer_epochs.h"

namespace satrelay::gateway {
namespace {

// Maximum number of slots that one call visits. For each of them a stream may be opened, or a host
// reset.
constexpr int kFlowsPerStep = 64;

}  // namespace

// Begins a scan of all flows, so that each flow handles the event.
void PeerEpochs::upset(LaneId lane, PeerEpochLog::Kind kind) {
  Lane& p = *parts_.lanes[lane];
  p.epoch_log.add(kind);
  ++events_;
  p.flows_behind = p.flows;
  // The list of the peer's flows is complete when the last of them has been visited.
  if (p.flows_behind > 0) p.control_messages.hold_list();
  parts_.flows.begin_scan();
}

void PeerEpochs::go_on(Instant now) {
  for (int visited = 0; parts_.flows.scan_active() && visited < kFlowsPerStep; ++visited) {
    parts_.work.add();
    const std::uint32_t slot = parts_.flows.step_scan();
    if (slot != kNoSlot) look_at(slot, now);
  }
}

void PeerEpochs::bring_up_to_date(std::uint32_t slot, Instant now) {
  Flow& f = parts_.flows[slot];
  f.handled.looked_at = events_;
  hosts_.follow_move(f, now);
  Lane& p = parts_.lane_of(f);
  if (f.handled.epochs == p.epoch_log.count()) return;
  const PeerEpochLog::Kind kind = p.epoch_log.first_after(f.handled.epochs);
  f.handled.epochs = p.epoch_log.count();
  f.stream = Flow::kNoStream;
  ending_.lose_stream(slot, kind, now);
  if (--p.flows_behind == 0) p.control_messages.release_list(now);
}

void PeerEpochs::look_at(std::uint32_t slot, Instant now) {
  catch_up(slot, now);
  Flow& f = parts_.flows[slot];
  if (has_left(f, now)) {
    ending_.reset(slot, stp::ResetReason::kTimeout, Counter::kFlowsResetMoved, now);
    return;
  }
  // The peer may be alive again, or may have closed.
  if (f.awaits_stream()) transfer_.advance(slot, now);
  transfer_.note_owing(f, now);
  if (!f.owes_since().is_never()) transfer_.arm(slot);
  if (f.handled.configurations == configurations_) return;
  f.handled.configurations = configurations_;
  // The flow's timers may now be due earlier, and its class may have changed.
  if (f.state.has_stream()) parts_.streams.join_class(f);
  parts_.queue(slot);
}

// Whether the host is silent on this LAN, and the flow's peer has found it on the peer's LAN. A
// flow is left out if it began after the host was asked for, since the host may have come back.
bool PeerEpochs::has_left(const Flow& f, Instant now) const {
  const auto* const check = departures_.find({f.key.local, f.key.vlans}, f.lan.to_host.destination,
                                             parts_.peer_of(f.lane), now);
  return check != nullptr && check->state == PresenceChecks::State::kSilent &&
         f.beginning.created < check->began && !f.endpoint.is_closed();
}

std::uint32_t PeerEpochs::find_open(LaneId lane, stp::StreamId stream, Instant now) {
  const std::optional<std::uint32_t> number = parts_.lanes[lane]->session.streams().context(stream);
  if (!number || StreamContext(*number).kind() != StreamContext::Kind::kFlow) return kNoSlot;
  const std::uint32_t slot = StreamContext(*number).slot();
  if (!parts_.flows.contains(slot)) return kNoSlot;
  catch_up(slot, now);
  const Flow& f = parts_.flows[slot];
  const bool is_open = f.state.has_stream() && f.stream == stream;
  return f.lane == lane && is_open ? slot : kNoSlot;
}

}  // namespace satrelay::gateway
