// How flows end: by their hosts, by their peer, by a timeout, or by a decision of the gateway.
#include "relay/gateway/flows/flow_deadline.h"
#include "relay/gateway/flows/relay/flow_relay.h"
#include "relay/gateway/frames/path_error.h"

namespace satrelay::gateway {
namespace {

// A SYN that has had no answer for this long was sent at least twice.
constexpr Duration kDoubtAfter = Duration::seconds(1);

// The client is in SYN-SENT: only the server's answer completes its handshake.
bool waits_for_server(const Flow& f) {
  return f.origin == Origin::kLan && !f.state.is_established() &&
         f.modes.handshake == config::HandshakeMode::kRemote;
}

}  // namespace

void FlowRelay::handle_closed_endpoint(Flow& f, Instant now) {
  f.close_handled = true;
  stp::ResetReason reason = stp::ResetReason::kNone;
  switch (f.endpoint.close_reason()) {
    case tcp::CloseReason::kNone:
    case tcp::CloseReason::kAborted:  // counted where it was decided, which also informs the peer
      return;
    case tcp::CloseReason::kResetByPeer:
      count_end(f, Counter::kFlowsResetByHost);
      if (resets_.begin_to_peer(f, now)) return;
      reason = stp::ResetReason::kHostReset;
      break;
    case tcp::CloseReason::kRefused:
      reason = stp::ResetReason::kRefused;
      count_end(f, Counter::kFlowsRefused);
      break;
    case tcp::CloseReason::kUnreachable:
      reason = stp::ResetReason::kNoRoute;
      count_end(f, Counter::kFlowsUnreachable);
      break;
    case tcp::CloseReason::kTimeout:
      reason =
          f.state.is_established() ? stp::ResetReason::kTimeout : stp::ResetReason::kUnreachable;
      count_end(f, f.state.is_established()    ? Counter::kFlowsResetTimeout
                   : f.origin == Origin::kPeer ? Counter::kFlowsUnreachable
                                               : Counter::kFlowsHandshakeTimeout);
      break;
  }
  streams_.reset(f, reason, now);
}

// The peer has ended the flow of a far host that has moved to this LAN and answered here. That host
// still has the connection open. So the gateway asks it for its sequence number, from the gateway's
// own MAC, and resets the near host from that MAC too. Both hosts are on this LAN, and its switches
// must not learn either host at the gateway's port. False if the far host has not moved.
bool FlowRelay::take_in_arrived(Flow& f, stp::ResetReason reason, Instant now) {
  if (reason != stp::ResetReason::kTimeout || !f.state.is_established()) return false;
  const auto* const check =
      arrivals_.find({f.key.remote, f.key.vlans}, f.to_host.source, configured(f.peer), now);
  if (check == nullptr || check->state != PresenceChecks::State::kHere) return false;
  const wire::EthernetHeader to_far_host = arrivals_.towards(*check);
  f.to_host.source = to_far_host.source;
  orphans_.take_in({f.key.remote, f.key.local, f.key.remote_port, f.key.local_port, f.key.vlans},
                   to_far_host, now);
  return true;
}

// Whether a segment of the server shows another connection with this 4-tuple: a bridged connection,
// or one from before the gateways. Until the handshake is complete, the gateway cannot know whether
// the client asked for this flow, or a forger in its name. A reset, which TCP's rules demand as the
// answer, could end a connection of honest hosts. The segment may be forged too, but the real
// server would answer the first SYN before there is a second. So the gateway drops the segment, and
// refuses the flow only after it has repeated the SYN. The client's gateway then bridges the next
// SYN, and the hosts settle the matter between them.
bool FlowRelay::makes_way(std::uint32_t slot, const wire::TcpHeader& header, Instant now) {
  Flow& f = flow(slot);
  if (f.origin != Origin::kPeer || f.modes.handshake != config::HandshakeMode::kRemote ||
      !f.endpoint.shows_another_connection(header)) {
    return false;
  }
  counters_.add(Counter::kDroppedNoAnswer);
  if (!f.endpoint.has_repeated_syn()) return true;
  streams_.reset(f, stp::ResetReason::kInUse, now);
  count_end(f, Counter::kFlowsInUse);
  f.endpoint.abandon();
  advance(slot, now);
  return true;
}

// Tells the peer which ICMP error has ended the attempt, if the peer understands ICMP errors. If
// not, handle_closed_endpoint() reports the end as well as it can.
void FlowRelay::hand_over(Flow& f, const stp::IcmpRefusal& refusal, Instant now) {
  if (session_of(f).icmp_refusals()) streams_.reset(f, refusal, now);
}

// If the client waits for the far host, it gets the ICMP error itself, and decides as it would over
// a bridge. The source of the error is its original sender, if the operator has put that address
// behind the peer. Otherwise it is the server, as a peer may send errors in the name of no other
// address. False if the client does not wait, or if the error does not end connect().
bool FlowRelay::tell_host(const Flow& f, const stp::IcmpRefusal& refusal) {
  const IcmpCode code{refusal.type, refusal.code};
  if (!waits_for_server(f) || !path_error(f.key.local.version(), code)) return false;
  if (parts_.flowless.failed_syns.full()) {
    counters_.add(Counter::kIcmpToClientsUnsent);
    return false;
  }
  const bool is_the_peers = refusal.sender && refusal.sender->version() == f.key.local.version() &&
                            claims_.allow(configured(f.peer), *refusal.sender, f.key.local);
  const OpenMetadata metadata = f.metadata();
  parts_.flowless.failed_syns.push({.to_host = f.to_host,
                                    .sender = is_the_peers ? *refusal.sender : f.key.remote,
                                    .code = code,
                                    .syn = {.key = f.key,
                                            .sequence = f.syn_sequence,
                                            .traffic_class = metadata.traffic_class,
                                            .hop_limit = metadata.hop_limit,
                                            .options = metadata.options}});
  counters_.add(Counter::kIcmpToClients);
  return true;
}

// A RST shows that servers of this IP version can be reached, and so does an ICMP error from the
// server itself. Silence, or an error from another sender, suggests the opposite.
void FlowRelay::note_refusal(const Flow& f, stp::ResetReason reason, const stp::Event& event,
                             Instant now) {
  if (reason == stp::ResetReason::kUnreachable) {
    using Silence = SymmetricPaths::Silence;
    const bool is_answered_elsewhere = f.endpoint.stray_answers() > 0;
    common_.symmetric_paths.note_silence(
        f.key, is_answered_elsewhere ? Silence::kElsewhere : Silence::kUnexplained, now);
  }
  const bool refused = reason == stp::ResetReason::kRefused;
  const bool silent =
      reason == stp::ResetReason::kUnreachable || reason == stp::ResetReason::kNoRoute;
  if (f.origin != Origin::kLan || f.bytes_to_lan > 0 || (!refused && !silent)) return;
  if (common_.far_services.note(f.key, FarServices::Outcome::kRefused, now)) {
    counters_.add(Counter::kServicesRefusing);
  }
  FarFamilies& families = common_.far_families;
  const std::size_t peer = configured(f.peer);
  const bool is_answered =
      event.reason == stp::ResetReason::kIcmp ? event.icmp.sender == f.key.remote : refused;
  if (is_answered) {
    families.note_answer(peer, f.key.remote, now);
  } else if (families.note_silence(peer, f.key.remote, now)) {
    counters_.add(Counter::kFamiliesSilent);
  }
}

void FlowRelay::note_refusal_of_peer(const Flow& f, stp::ResetReason reason, Instant now) {
  if (f.origin != Origin::kLan || f.bytes_to_lan > 0) return;
  if (reason == stp::ResetReason::kPolicy) {
    common_.peer_refusals.note_client(configured(f.peer), f.key.local, now);
  } else if (reason == stp::ResetReason::kNoResources) {
    common_.peer_refusals.note_full(configured(f.peer), f.key.remote, now);
  }
}

// Two networks in different VLANs may have the same addresses. But only a host that has seen our
// SYN knows its number.
std::uint32_t FlowRelay::asked_in_other_vlan(const FlowKey& key,
                                             const wire::TcpHeader& header) const {
  using Flags = wire::TcpFlags;
  if (!header.has(Flags::kAck) || (header.flags & (Flags::kSyn | Flags::kRst)) == 0) return kNoSlot;
  const std::uint32_t slot = asked_.find(key);
  if (slot == kNoSlot || !flows_.contains(slot)) return kNoSlot;
  const Flow& f = flows_[slot];
  const bool waits = f.origin == Origin::kPeer && f.state.has_stream() &&
                     f.endpoint.state() == tcp::State::kSynSent && !is_behind(f);
  const bool is_its =
      untagged(f.key) == untagged(key) && !f.endpoint.shows_another_connection(header);
  return waits && is_its ? slot : kNoSlot;
}

// Resets the server, in the VLAN in which it got the SYN.
void FlowRelay::handle_other_vlan(std::uint32_t slot, const wire::TcpHeader& answer, Instant now) {
  Flow& f = flow(slot);
  if (answer.has(wire::TcpFlags::kRst)) {
    streams_.reset(f, stp::ResetReason::kRefused, now);
    count_end(f, Counter::kFlowsRefused);
  } else {
    const bool is_understood = session_of(f).other_vlan();
    streams_.reset(f, is_understood ? stp::ResetReason::kOtherVlan : stp::ResetReason::kNoRoute,
                   now);
    count_end(f, Counter::kFlowsOtherVlan);
    if (!parts_.flowless.final_segments.full())
      parts_.flowless.final_segments.push_reset(f.to_host, f.key, answer.acknowledgment);
  }
  f.endpoint.abandon();
  advance(slot, now);
}

// A SYN that waits for the far host is answered with RST only if that host refused it. If the far
// host did not answer, the client gets no answer either, and tries again as it would without a
// gateway. The next SYN is bridged if the far gateway has no room, or accepts no flow of this
// client, as a second attempt would fail in the same way. If the far host already has such a
// connection, all SYNs are bridged for a while, so that a forger disturbs the connection only once.
void FlowRelay::abort_or_abandon(Flow& f, stp::ResetReason reason, Instant now) {
  if (waits_for_server(f) && reason != stp::ResetReason::kRefused) {
    if (reason == stp::ResetReason::kNoResources || reason == stp::ResetReason::kPolicy) {
      records_.bridged_syns.remember(f.key, f.syn_sequence, now);
    }
    if (reason == stp::ResetReason::kInUse) {
      records_.refused_in_use.remember(f.key, 0, now);
    }
    f.endpoint.abandon();
  } else {
    f.endpoint.abort(now);
  }
}

void FlowRelay::reset_flow(std::uint32_t slot, stp::ResetReason reason, Counter counter,
                           Instant now) {
  Flow& f = flow(slot);
  streams_.reset(f, reason, now);
  count_end(f, counter);
  f.endpoint.abort(now);
  queue(slot);
}

void FlowRelay::count_end(Flow& f, Counter counter) {
  if (f.end != Counter::kCount) return;
  f.end = counter;
  counters_.add(counter);
}

void FlowRelay::remove(std::uint32_t slot, Instant now) {
  Flow& f = flow(slot);
  count_end(f, Counter::kFlowsFinished);
  if (f.state.is_established()) records_.ended.remember(f.key, 0, now);
  journal_.release(f.journal_place);
  release_slot(slot, now);
}

void FlowRelay::release_slot(std::uint32_t slot, Instant now) {
  const Flow& f = flow(slot);
  Peer& peer = *peers_[f.peer];
  if (f.stream != Flow::kNoStream && peer.control_messages.report({f.stream, f.rare().lan}, now)) {
    peer.bell.ring();
  }
  const auto awaited = awaits_report(f) ? std::optional(stream_of(f)) : std::nullopt;
  ends_.handle_end(f, static_cast<std::uint32_t>(peer.lane.peer), awaited, now);
  parts_.unconfirmed.remove(slot);
  streams_.leave(flow(slot));
  --peer.flows;
  quotas_.end(f, peer.lane.peer);
  flows_.remove(slot);
}

// --- the far gateway's report about its LAN ------------------------------------------------------

void FlowRelay::tell_ends(FlowRecorder* recorder) {
  ends_.tell(recorder);
  if (recorder == nullptr) return;
  for (const auto& peer : peers_) peer->control_messages.ask_for_reports();
}

bool FlowRelay::awaits_report(const Flow& f) const {
  return ends_.is_told() && f.stream != Flow::kNoStream && !f.rare().far &&
         peers_[f.peer]->control_messages.awaits_reports();
}

FlowEnds::StreamOf FlowRelay::stream_of(const Flow& f) const {
  return {f.peer, peers_[f.peer]->epoch_log.count(), f.stream};
}

// The report comes before or after this gateway's flow has ended.
void FlowRelay::handle_report(std::size_t session, const LanReport& report) {
  if (!ends_.is_told()) return;  // without a recorder no flow needs the report
  const Peer& peer = *peers_[session];
  const auto number = peer.session.context(report.stream);
  const bool is_flows = number && StreamContext(*number).kind() == StreamContext::Kind::kFlow;
  std::optional<std::uint32_t> slot;
  if (is_flows) {
    slot = StreamContext(*number).index();
  } else {
    slot = ends_.handle_report(
        {static_cast<std::uint32_t>(session), peer.epoch_log.count(), report.stream},
        report.figures);
  }
  if (!slot || !flows_.contains(*slot)) return;
  Flow& f = flow(*slot);
  const bool is_its = f.stream == report.stream || f.inbound() == report.stream;
  if (f.peer == session && is_its && !is_behind(f)) f.make_rare().far = report.figures;
}

void FlowRelay::settle(std::uint32_t slot, Instant now) {
  Flow& f = flow(slot);
  if (!f.state.has_stream()) {
    if (f.endpoint.is_closed()) return remove(slot, now);
    if (const auto state = f.endpoint.time_wait()) return retire(slot, *state, now);
  }
  if (!f.counted_over && f.is_over()) {
    flows_.count_over(f);
    f.endpoint.give_up_own_memory();
  }
  note_owing(f, now);
  flows_.arm(slot, deadline(f, session_of(f), limits_, give_up_after_));
}

// --- TIME-WAIT -----------------------------------------------------------------------------------

// Both hosts have all that they need of the flow. Segments that come late need no flow.
void FlowRelay::retire(std::uint32_t slot, const tcp::TimeWait& state, Instant now) {
  Flow& f = flow(slot);
  count_end(f, Counter::kFlowsFinished);
  journal_.release(f.journal_place);
  if (const auto given_up = time_waits_.add(f.key, state, now)) {
    counters_.add(Counter::kTimeWaitsGivenUp);
    records_.ended.remember(*given_up, 0, now);
  }
  release_slot(slot, now);
}

void FlowRelay::end_time_wait(const FlowKey& key, Instant now) {
  if (time_waits_.remove(key)) records_.ended.remember(key, 0, now);
}

void FlowRelay::expire_time_waits(Instant now) {
  constexpr int kPerCall = 64;
  for (int i = 0; i < kPerCall; ++i) {
    const TimeWaits::Expired expired = time_waits_.take_expired(now);
    if (expired.connection) records_.ended.remember(*expired.connection, 0, now);
    if (!expired.more) return;
    work_.add();
  }
}

void FlowRelay::handle_late_segment(const FlowKey& key, const Frame& frame,
                                    const wire::TcpHeader& header, std::size_t payload,
                                    Instant now) {
  auto state = time_waits_.state(key);
  const tcp::LateSegment late =
      tcp::handle_late_segment(*state, header, payload, tcp_counters_, now);
  time_waits_.update(key, *state);
  if (late.answered && parts_.flowless.late_answers.full()) {
    counters_.add(Counter::kDroppedLateAnswers);
  } else if (late.answered) {
    ++tcp_counters_.segments_out;
    const std::uint32_t timestamp = tcp::Timestamps(host_side_.timestamp_offset(key)).value(now);
    parts_.flowless.late_answers.push(lan_.way_back(host_pair(key), frame.ethernet, now), key,
                                      tcp::answer_of(*state, timestamp));
  }
  using Effect = tcp::LateSegment::Effect;
  if (late.effect == Effect::kRestarts) time_waits_.restart(key, now);
  if (late.effect == Effect::kEnds) end_time_wait(key, now);
}

bool FlowRelay::make_way(const FlowKey& key, const wire::TcpHeader& syn, Instant now) {
  if (!tcp::admits_new_incarnation(*time_waits_.state(key), syn)) return false;
  end_time_wait(key, now);
  return true;
}

void FlowRelay::shut_down(Instant now) {
  is_shutting_down_ = true;
  ends_.shut_down();
  for (std::uint32_t slot = flows_.from(0); slot != kNoSlot; slot = flows_.from(slot + 1)) {
    catch_up(slot, now);
    end_without_stream(slot, Counter::kFlowsResetShutdown, now);
  }
}

void FlowRelay::remember(const Flow& f) {
  const ClientSide client = f.origin == Origin::kPeer ? ClientSide::kHere : ClientSide::kPeer;
  peers_[f.peer]->control_messages.remember(f.metadata(), client);
  counters_.add(Counter::kFlowsListed);
}

// The client behaves as if a second sender answered it too. That may be the server itself, if its
// answers to the far gateway's SYN take another way. Only the far gateway knows whether it waits
// for such answers.
void FlowRelay::doubt(Flow& f, Instant now) {
  f.stray_answers = static_cast<std::uint16_t>(f.endpoint.stray_answers());
  const bool far_host_spoke = f.bytes_to_lan > 0 || f.rare().far_window;
  if (f.origin != Origin::kLan || !f.state.has_stream() || far_host_spoke) return;
  peers_[f.peer]->control_messages.doubt(f.stream, now);
}

std::uint32_t FlowRelay::find_open(std::size_t peer, stp::StreamId stream, Instant now) {
  const std::optional<std::uint32_t> number = peers_[peer]->session.context(stream);
  if (!number || StreamContext(*number).kind() != StreamContext::Kind::kFlow) return kNoSlot;
  const std::uint32_t slot = StreamContext(*number).index();
  if (!flows_.contains(slot)) return kNoSlot;
  catch_up(slot, now);
  const Flow& f = flow(slot);
  const bool is_open = f.state.has_stream() && f.stream == stream;
  return f.peer == peer && is_open ? slot : kNoSlot;
}

void FlowRelay::handle_doubt(std::size_t peer, stp::StreamId stream, Instant now) {
  const std::uint32_t slot = find_open(peer, stream, now);
  if (slot == kNoSlot) return;
  const Flow& f = flow(slot);
  const bool waits = f.endpoint.state() == tcp::State::kSynSent && !f.is_unconfirmed();
  if (!waits || now < f.created + kDoubtAfter) return;
  reset_flow(slot, stp::ResetReason::kUnreachable, Counter::kFlowsUnreachable, now);
}

}  // namespace satrelay::gateway
