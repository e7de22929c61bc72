#include "relay/gateway/flows/relay/flow_relay.h"

#include "relay/gateway/flows/bytes/urgent.h"
#include "relay/gateway/flows/deferred_reset.h"
#include "relay/gateway/flows/flow_deadline.h"
#include "relay/gateway/flows/flow_modes.h"
#include "relay/gateway/flows/flow_snapshot.h"
#include "relay/gateway/flows/hosts/host_questions.h"
#include "relay/gateway/frames/path_error.h"
#include "relay/gateway/frames/path_mtu_advice.h"

namespace satrelay::gateway {
namespace {

// The most flows that one call visits: flows with due timers, unfinished flows, and flows that turn
// out to have no frame.
constexpr int kFlowsPerCall = 64;

Counter counter_for(stp::ResetReason reason) {
  switch (reason) {
    case stp::ResetReason::kRefused:
      return Counter::kFlowsRefused;
    case stp::ResetReason::kUnreachable:
    case stp::ResetReason::kNoRoute:
      return Counter::kFlowsUnreachable;
    case stp::ResetReason::kInUse:
      return Counter::kFlowsInUse;
    case stp::ResetReason::kOtherVlan:
      return Counter::kFlowsOtherVlan;
    case stp::ResetReason::kTimeout:
      return Counter::kFlowsResetTimeout;
    case stp::ResetReason::kNoResources:
      return Counter::kFlowsResetNoResources;
    case stp::ResetReason::kProtocolError:
      return Counter::kFlowsResetProtocol;
    case stp::ResetReason::kShutdown:
      return Counter::kFlowsResetPeerClosed;
    default:
      return Counter::kFlowsResetByPeer;
  }
}

// A peer that does not know kIcmp sends this reason instead. This gateway counts and remembers both
// in the same way.
stp::ResetReason reason_of(const Flow& f, const stp::Event& event) {
  if (event.reason != stp::ResetReason::kIcmp) return event.reason;
  const auto kind = path_error(f.key.local.version(), {event.icmp.type, event.icmp.code});
  if (kind == tcp::PathError::kHard) return stp::ResetReason::kRefused;
  return event.icmp.sender ? stp::ResetReason::kNoRoute : stp::ResetReason::kUnreachable;
}

void note_payload(const Flow& f, FlowHot& hot, Instant now) {
  hot.last_payload = now;
  hot.wait.begin(f.bytes_from_lan, f.endpoint.received().readable(), now);
}

// Bytes that the host has not acknowledged, plus one each for the SYN and the FIN.
std::uint64_t owed_by(const Flow& f) {
  const tcp::Endpoint& endpoint = f.endpoint;
  return endpoint.unacknowledged() + (endpoint.is_synchronised() ? 0U : 1U) +
         (endpoint.finished_sending() ? 0U : 1U);
}

// Both hosts have sent something through the gateways. A client does not count before its handshake
// is complete, as its SYN may be forged.
bool has_heard_both_hosts(const Flow& f) { return f.state.is_established() && f.bytes_to_lan > 0; }

bool has_stray_answer(const Flow& f) {
  return static_cast<std::uint16_t>(f.endpoint.stray_answers()) != f.stray_answers;
}

}  // namespace

FlowRelay::FlowRelay(const config::Gateway& config, const MemoryPlan& plan, HashKey secret,
                     const RelayEnvironment& around, const Stopwatch* stopwatch,
                     TcpFrames::Sums sums)
    : parts_(config, plan, secret, around, stopwatch),
      hosts_(parts_, secret),
      policy_(around.policy),
      claims_(around.claims),
      lan_(around.lan),
      arrivals_(around.arrivals),
      departures_(around.departures),
      common_(around.common),
      peers_(around.peers),
      records_(around.records),
      journal_(around.journal),
      orphans_(around.orphans),
      counters_(around.counters),
      budget_(around.budget),
      asked_(secret),
      ends_(around.classes, secret),
      time_waits_(config.limits.time_wait, secret),
      frames_(sums) {
  share_with_endpoints();
}

void FlowRelay::share_with_endpoints() {
  of_endpoints_.clear();
  for (const auto& arena : parts_.arenas) {
    of_endpoints_.push_back(std::make_shared<const tcp::Common>(
        tcp::Common{*host_side_.profile(), tcp_counters_, *arena}));
  }
}

// --- input -------------------------------------------------------------------------------------

void FlowRelay::handle_segment(std::uint32_t slot, const Frame& frame,
                               const wire::TcpHeader& header, ConstBytes payload, Instant now) {
  // If this is a RST, the segments before it move the flow on first: they may have completed its
  // handshake.
  settle_unless(header.has(wire::TcpFlags::kRst) ? kNoSlot : slot, now);
  catch_up(slot, now);
  Flow& f = flow(slot);
  if (makes_way(slot, header, now)) return;
  const std::uint64_t owed = f.endpoint.unacknowledged();
  const MacAddress used = f.to_host.destination;
  const bool elsewhere = hosts_.is_elsewhere(f, frame);
  const std::uint64_t owed_in_all = elsewhere ? owed_by(f) : 0;
  const std::uint64_t in_order = f.endpoint.received().in_order_end();
  const HostWindows::Means means = windows_.means(f);
  if (moving_ != slot) windows_.adjust(f, means, ahead_of(f, now), now);
  const tcp::EcnField ecn = tcp::ecn_field(frame.ip.traffic_class);
  // A promised window is not taken back, and many windows together may promise more memory than
  // there is. If a payload would take the room that the streams need to drain, it counts as lost,
  // and the host retransmits it.
  f.endpoint.set_frugal(windows_.crowds_streams(f, means, payload.size()));
  const std::uint64_t unstored = tcp_counters_.unstored_bytes_in;
  const std::uint64_t repeated = tcp_counters_.duplicate_bytes_in;
  const auto urgent = header.has(wire::TcpFlags::kUrg)
                          ? f.endpoint.urgent_mark_of(header, payload.size())
                          : std::nullopt;
  const std::uint32_t stray = f.endpoint.stray_answers();
  f.endpoint.leave_questions(may_ask(f, session_of(f)));
  const tcp::Acceptance acceptance = f.endpoint.handle_segment(header, payload, now, ecn);
  if (tcp_counters_.unstored_bytes_in > unstored) counters_.add(Counter::kDroppedMemoryLow);
  const bool repeats = tcp_counters_.duplicate_bytes_in > repeated;
  if (repeats) ++f.make_rare().lan.repeated;
  // Use only accepted segments: any station on the LAN can send with these addresses and ports.
  const bool is_accepted = acceptance == tcp::Acceptance::kAccepted;
  if (is_accepted && urgent && note_urgent(f, *urgent, in_order, tcp_counters_)) {
    // An empty segment with a new urgent mark is no stray answer.
    f.stray_answers =
        static_cast<std::uint16_t>(f.stray_answers + f.endpoint.stray_answers() - stray);
  }
  if (has_stray_answer(f)) doubt(f, now);
  if (is_accepted) {
    if (elsewhere) [[unlikely]] {
      const bool brings = f.endpoint.received().in_order_end() > in_order;
      hosts_.follow_to(f, frame.ethernet,
                       owed_by(f) < owed_in_all ? HostTracker::MacObservation::kAcknowledges
                       : brings                 ? HostTracker::MacObservation::kBrings
                                                : HostTracker::MacObservation::kNone,
                       now);
    }
    if (repeats) hosts_.note_repeat(f, now);
    hear_question(f, session_of(f), counters_, now);
    // The host repeats its SYN. Its first SYN was answered at once, so that answer did not reach
    // it.
    const bool is_answered = f.modes.handshake == config::HandshakeMode::kLocal;
    if (header.opens_connection() && is_answered && f.to_host.destination == used) {
      hosts_.seek_host(f, now);
    }
    f.trimmed = false;
    if (!payload.empty()) note_payload(f, f.heat(now), now);
    if (!payload.empty() || header.has(wire::TcpFlags::kSyn)) {
      f.host_marks = PathMarks::of(frame.ip.traffic_class, frame.ip.hop_limit);
    }
    // An answer to a probe of the host's closed window is no progress: other flows may need the
    // memory.
    if (!only_owes(f, session_of(f)) || f.endpoint.unacknowledged() < owed) note_activity(f, now);
  }
  moving_ = slot;
}

std::size_t FlowRelay::handle_in_order(std::uint32_t slot, const Frame& frame,
                                       const wire::TcpHeader& header,
                                       std::span<const ConstBytes> payloads, Instant now) {
  catch_up(slot, now);
  Flow& f = flow(slot);
  if (f.endpoint.state() != tcp::State::kEstablished) return 0;
  // If memory is short, each segment is checked by itself. Together the segments may touch two
  // blocks more than their bytes fill: the block before these bytes, and one more behind them.
  std::size_t size = 2 * arena_of(f.peer).block_size();
  for (const ConstBytes payload : payloads) size += payload.size();
  const HostWindows::Means means = windows_.means(f);
  if (windows_.crowds_streams(f, means, size)) return 0;
  if (moving_ != slot) windows_.adjust(f, means, ahead_of(f, now), now);
  f.endpoint.set_frugal(false);
  const std::uint64_t unstored = tcp_counters_.unstored_bytes_in;
  const std::size_t taken = f.endpoint.handle_in_order(header, payloads, now);
  if (taken == 0) return 0;
  if (tcp_counters_.unstored_bytes_in > unstored) counters_.add(Counter::kDroppedMemoryLow);
  if (has_stray_answer(f)) doubt(f, now);
  hosts_.follow_host(f, frame, HostTracker::MacObservation::kBrings, now);
  note_payload(f, f.heat(now), now);
  f.host_marks = PathMarks::of(frame.ip.traffic_class, frame.ip.hop_limit);
  note_activity(f, now);
  moving_ = slot;
  return taken;
}

std::size_t FlowRelay::handle_acknowledgments(std::uint32_t slot, const Frame& frame,
                                              std::span<const wire::TcpHeader* const> headers,
                                              Instant now) {
  catch_up(slot, now);
  Flow& f = flow(slot);
  const std::size_t taken = f.endpoint.handle_acknowledgments(headers, now);
  if (taken == 0) return 0;
  const HostWindows::Means means = windows_.means(f);
  if (moving_ != slot) windows_.adjust(f, means, ahead_of(f, now), now);
  f.endpoint.set_frugal(windows_.crowds_streams(f, means, 0));
  hosts_.follow_host(f, frame, HostTracker::MacObservation::kAcknowledges, now);
  f.heat(now);
  note_activity(f, now);
  moving_ = slot;
  return taken;
}

// The server has accepted the connection: the far gateway has said so, or sends its bytes.
void FlowRelay::note_answer(const Flow& f, Instant now) {
  if (f.origin != Origin::kLan) return;
  common_.far_services.note(f.key, FarServices::Outcome::kAccepted, now);
  common_.far_families.note_answer(configured(f.peer), f.key.remote, now);
  common_.peer_refusals.note_accepted(configured(f.peer), f.key.local, now);
}

// Notes that the far host is on the WAN side. The host's frames end at the far gateway, so no frame
// on the WAN shows where it is.
void FlowRelay::hear_far_host(const Flow& f, Instant now) {
  if (far_stations_.has_just_heard(f.to_host, now) || f.is_unconfirmed()) return;
  if (far_stations_.hear(common_.stations, Side::kWan, f.to_host, now)) {
    counters_.add(Counter::kStationsOnBothSides);
  }
}

void FlowRelay::handle_icmp_error(std::uint32_t slot, const Frame& frame, Instant now) {
  catch_up(slot, now);
  Flow& f = flow(slot);
  if (const auto advice = path_mtu_advice(frame)) {
    f.endpoint.handle_packet_too_big(advice->sequence, advice->segment_limit, now);
  } else if (const auto quoted = path_error(frame)) {
    // If the peer does not know RESET reason 14, its client would be reset. So an error that may
    // pass does not end the attempt then.
    const bool may_pass = quoted->error == tcp::PathError::kSoft && !session_of(f).icmp_refusals();
    const auto error = may_pass ? tcp::PathError::kPassing : quoted->error;
    const bool is_over = f.endpoint.handle_path_error(quoted->sequence, error);
    if (is_over) hand_over(f, {quoted->code.type, quoted->code.code, frame.ip.source}, now);
  }
  advance(slot, now);
}

void FlowRelay::handle_event(std::size_t peer, const stp::Event& event, Instant now) {
  using Kind = stp::Event::Kind;
  const std::uint32_t slot = StreamContext(event.context).index();
  if (!flows_.contains(slot)) return;
  catch_up(slot, now);
  Flow& f = flow(slot);
  const bool known = f.stream == event.stream || f.inbound_stream() == event.stream;
  if (!f.state.has_stream() || !known || f.peer != peer) return;
  if (event.kind == Kind::kReadable || event.kind == Kind::kConfirmed) hear_far_host(f, now);
  if (event.kind == Kind::kReset) {
    const stp::ResetReason reason = reason_of(f, event);
    note_refusal(f, reason, event, now);
    note_refusal_of_peer(f, reason, now);
    const bool has_moved = take_in_arrived(f, reason, now);
    streams_.reset(f, stp::ResetReason::kNone, now);
    count_end(f, has_moved ? Counter::kFlowsResetMoved : counter_for(reason));
    if (reason == stp::ResetReason::kHostReset && has_queued(f)) {
      resets_.begin_to_host(f, now);
    } else if (event.reason == stp::ResetReason::kIcmp && tell_host(f, event.icmp)) {
      f.endpoint.abandon();
    } else {
      abort_or_abandon(f, reason, now);
    }
  } else if (event.kind == Kind::kDelivered) {
    if (f.stream == event.stream) f.host_end = Flow::HostEnd::kDelivered;
  } else if (event.kind == Kind::kConfirmed) {
    const stp::Confirmation far = session_of(f).confirmation(event.stream);
    if (far.answered && !f.state.is_established()) note_answer(f, now);
    follow(f, session_of(f), far, now);
    hear_urgent(f, far.urgent, tcp_counters_);
    windows_.adjust(f, ahead_of(f, now), now);
  }
  // A CONFIRM is no progress if our host acknowledges nothing, though the far host may ask for it:
  // other flows may need the memory.
  if (event.kind != Kind::kConfirmed || !f.endpoint.sends_in_vain()) note_activity(f, now);
  advance(slot, now);
}

void FlowRelay::handle_timeout(Instant now) {
  advance_unfinished(now);
  expire_time_waits(now);
  ends_.handle_timeout(now);
  make_room(now);
  for (int i = 0; i < kFlowsPerCall; ++i) {
    const auto taken = flows_.take_due(now);  // settle() arms the timer anew
    if (!taken) break;
    const std::uint32_t slot = *taken;
    work_.add();
    catch_up(slot, now);
    Flow& f = flow(slot);
    // A timer that comes too early is only armed again. But if memory is short, the flow is visited
    // all the same: each visit is a chance to find some.
    if (const Instant due = deadline(f, session_of(f), limits_, give_up_after_);
        due > now && !windows_.crowds_streams(f, 0)) {
      flows_.arm(slot, due);
      continue;
    }
    const std::uint64_t repeats = repeats_owed();
    f.endpoint.handle_timeout(now);
    if (repeats_owed() != repeats) hosts_.seek_host(f, now);
    if (f.is_unconfirmed() && !f.endpoint.is_closed() &&
        now >= f.created + LanNeighbours::kPatience) {
      if (lan_.is_silent_since(f.key.local, f.created)) {
        const IcmpCode code = host_unreachable(f.key.local.version());
        hand_over(f, {code.type, code.code}, now);
      }
      reset_flow(slot, stp::ResetReason::kUnreachable, Counter::kFlowsUnreachable, now);
      continue;
    }
    if (f.retry_at <= now) {
      f.retry_at = Instant::never();
      windows_.adjust(f, ahead_of(f, now), now);
    }
    if (!f.trimmed && now >= f.last_activity + kTrimAfter) trim(f);
    if (now >= end_of_wait(f, give_up_after_)) {
      give_up(slot, now);
      continue;
    }
    if (now >= f.last_activity + quiet_limit(f, session_of(f), limits_) && !ends_by_itself(f)) {
      if (!awaits_host(f, session_of(f))) {
        reset_flow(slot, stp::ResetReason::kTimeout, Counter::kFlowsResetIdle, now);
        continue;
      }
      f.endpoint.send_keep_alive(now);
      f.last_activity = now;
    }
    advance(slot, now);
  }
}

Instant FlowRelay::next_timeout() const {
  if (!flows_.ring().empty() || !unfinished_.empty() || flows_.scan_active() ||
      parts_.unconfirmed.any_deferred() || !parts_.flowless.empty()) {
    return {};
  }
  const Instant search = wanted_room_ ? parts_.room_pace.next() : Instant::never();
  return earlier(earlier(search, ends_.next_timeout()),
                 earlier(flows_.next_deadline(), time_waits_.next_expiry()));
}

// --- splicing ----------------------------------------------------------------------------------

void FlowRelay::produce(stp::StreamId stream, std::uint32_t number, Instant now) {
  const StreamContext context(number);
  if (context.kind() == StreamContext::Kind::kMessages) {
    peers_[context.index()]->control_messages.produce(stream, now);
    return;
  }
  const std::uint32_t slot = context.index();
  catch_up(slot, now);
  Flow& f = flow(slot);
  if (!f.state.has_stream() || f.stream != stream) return;  // given up meanwhile
  const bool owed_marks = f.owes_marks();
  streams_.produce(f, windows_, now);
  if (owed_marks && !f.owes_marks()) confirm(f, session_of(f), now);
  quotas_.note_stored(f);
  queue(slot);  // consuming bytes may have opened the host's window
}

void FlowRelay::trim(Flow& f) {
  f.trimmed = true;
  f.cool();
  f.endpoint.trim();
  if (!f.state.has_stream()) return;
  session_of(f).trim(f.stream);
  if (f.inbound()) session_of(f).trim(*f.inbound());
}

void FlowRelay::advance(std::uint32_t slot, Instant now) {
  work_.add();
  Flow& f = flow(slot);
  const bool had_heard_both = has_heard_both_hosts(f);
  if (!f.state.is_established() && f.endpoint.is_synchronised()) {
    f.state.complete_handshake();
    if (f.half_open) quotas_.count_answered(f, configured(f.peer));
    flows_.count_answered(f);
    if (f.origin == Origin::kLan && f.state.has_stream()) {
      counters_.add(Counter::kFlowsEstablished);
    }
  }
  // If the peer may have been started anew, the flow waits until that is settled.
  if (f.awaits_stream() && !session_of(f).doubts_peer()) {
    open_stream(slot, now);
    if (f.state.has_stream()) counters_.add(Counter::kFlowsEstablished);
  }
  if (f.state.has_stream()) streams_.feed(f, now);
  if (f.state.has_stream()) {
    const std::uint64_t before = f.bytes_to_lan;
    const PathMarks marks = f.far_marks;
    const StreamSide::Delivery delivery = streams_.deliver(f, windows_, now);
    if (f.rare().far_urgent.mark > f.bytes_to_lan) show_far_urgent(f);
    const bool is_first = before == 0 && f.bytes_to_lan > 0;
    if (is_first) note_answer(f, now);
    if (is_first || f.far_marks != marks) note_far_marks(f, now);
    if (delivery == StreamSide::Delivery::kSpent) unfinished_.add(slot);
    if (delivery == StreamSide::Delivery::kReset) {
      streams_.reset(f, stp::ResetReason::kNone, now);
      count_end(f, Counter::kFlowsResetByPeer);
      resets_.begin_to_host(f, now);
    }
    if (delivery == StreamSide::Delivery::kMalformed) {
      streams_.reset(f, stp::ResetReason::kProtocolError, now);
      count_end(f, Counter::kFlowsResetProtocol);
      f.endpoint.abort(now);
    }
  }
  if (!had_heard_both && has_heard_both_hosts(f)) common_.symmetric_paths.note_answer(f.key, now);
  if (f.first_byte_us == 0) f.note_first_byte(now);
  if (f.rare().questions && go_on_with_questions(f, session_of(f), counters_, now)) [[unlikely]] {
    hosts_.seek_host(f, now);
  }
  if (f.state.has_stream()) confirm(f, session_of(f), now);
  if (f.endpoint.is_closed() && !f.close_handled) handle_closed_endpoint(f, now);
  if (f.rare().deferred_reset) [[unlikely]]
    resets_.go_on(slot, now);
  if (f.state.has_stream()) streams_.release_if_done(f, now);
  if (f.state.has_lost_stream() && awaits_report(f) && !f.rare().far_awaited) {
    f.make_rare().far_awaited = true;
    ends_.expect_report(stream_of(f), slot, now);
  }
  quotas_.note_stored(f);
  // Usually only the timer must be set. If the stream is over, settle() may remove the flow, but
  // callers still use it. So such a flow is queued, and settle() handles it at its turn.
  if (!f.state.has_stream() || f.endpoint.may_have_segment()) {
    queue(slot);
  } else if (!flows_.ring().has(slot)) {
    settle(slot, now);
  }
}

void FlowRelay::advance_unfinished(Instant now) {
  for (int i = 0; i < kFlowsPerCall && !unfinished_.empty() && !budget_.is_spent(); ++i) {
    const std::uint32_t slot = unfinished_.front();
    unfinished_.end_turn();
    if (!flows_.contains(slot)) continue;
    work_.add();
    catch_up(slot, now);
    advance(slot, now);
  }
}

// --- output ------------------------------------------------------------------------------------

std::size_t FlowRelay::poll_frames(std::span<const MutableBytes> rooms, std::span<Polled> polled,
                                   Instant now) {
  sending_ = kNoSlot;
  std::size_t count = 0;
  while (count < rooms.size()) {
    polled[count] = poll_frame(rooms[count], now);
    if (polled[count].kind == Polled::Kind::kNothing) break;
    ++count;
    if (sending_ == kNoSlot) continue;
    const std::size_t most =
        std::min<std::size_t>(flows_.ring().left_of_turn(), rooms.size() - count);
    const Flow& f = flow(sending_);
    std::size_t more = flow(sending_).endpoint.poll_run(last_sent_, most, now);
    flows_.ring().count_segments(more);
    for (; more > 0; --more, ++count) {
      polled[count] = frames_.write_next(f, last_sent_, rooms[count]);
      last_sent_.header.sequence += last_sent_.payload_size;
      last_sent_.payload_offset += last_sent_.payload_size;
    }
  }
  return count;
}

// Gives a frame that is sent in a far host's name, but belongs to no flow, the marks of that host.
Polled FlowRelay::marked(std::size_t size, MutableBytes out, Instant now) const {
  common_.far_marks.mark(out.first(size), now);
  return written(size);
}

Polled FlowRelay::poll_frame(MutableBytes out, Instant now) {
  if (const std::size_t size = parts_.flowless.final_segments.poll_frame(out); size > 0)
    return marked(size, out, now);
  if (const std::size_t size = parts_.flowless.failed_syns.poll_frame(out); size > 0)
    return written(size);
  FlowRing& ring = flows_.ring();
  for (int i = 0; !ring.empty() && (i < kFlowsPerCall || is_shutting_down_); ++i) {
    const std::uint32_t slot = ring.front();
    work_.add();
    if (flows_.contains(slot)) catch_up(slot, now);
    if (flows_.contains(slot) && !ring.turn_is_over() && !flow(slot).is_unconfirmed()) {
      const Polled polled = poll_flow(slot, out, now);
      if (polled.kind != Polled::Kind::kNothing) {
        if (!flow(slot).endpoint.may_have_segment()) end_turn(slot, now);
        return polled;
      }
    }
    end_turn(slot, now);
  }
  return marked(parts_.flowless.late_answers.poll_frame(out), out, now);
}

Polled FlowRelay::poll_flow(std::uint32_t slot, MutableBytes out, Instant now) {
  Flow& f = flow(slot);
  const std::uint64_t retransmitted = tcp_counters_.retransmitted_segments;
  const bool goes_on = slot == sending_ && f.endpoint.poll_next(last_sent_, now);
  if (!goes_on) {
    const auto segment = f.endpoint.poll_segment(now);
    if (!segment) return {};
    last_sent_ = *segment;
    sending_ = segment->payload_size > 0 ? slot : kNoSlot;
  }
  if (tcp_counters_.retransmitted_segments > retransmitted) ++f.make_rare().lan.retransmitted;
  flows_.ring().count_segments(1);
  return goes_on ? frames_.write_next(f, last_sent_, out) : frames_.write(f, last_sent_, out);
}

// Ends the turn of the first flow of the ring: it has nothing more to send, or has used up its
// turn.
void FlowRelay::end_turn(std::uint32_t slot, Instant now) {
  FlowRing& ring = flows_.ring();
  const bool more = ring.turn_is_over();  // its turn is used up, but it may have more to send
  ring.end_turn();
  sending_ = kNoSlot;
  if (!flows_.contains(slot)) return;
  if (more) {
    ring.add(slot);
  } else {
    settle(slot, now);
  }
}

void FlowRelay::hear_destination(std::size_t peer, const LanDestination& told, Instant now) {
  hosts_.hear_destination(peer, find_open(peer, told.stream, now), told, now);
}

// --- getters -----------------------------------------------------------------------------------

const FlowKey* FlowRelay::key_of(std::size_t peer, const stp::Event& event) const {
  const StreamContext context(event.context);
  if (context.kind() != StreamContext::Kind::kFlow || !flows_.contains(context.index())) {
    return nullptr;
  }
  const Flow& f = flows_[context.index()];
  const bool same = f.state.has_stream() && f.stream == event.stream;
  return same && f.peer == peer && !is_behind(f) ? &f.key : nullptr;
}

std::vector<FlowSnapshot> FlowRelay::snapshot(std::size_t first, std::size_t count, Instant now) {
  // Flows are scattered in memory, and most were not used for long. So the loop prefetches the next
  // ones.
  constexpr std::size_t kAhead = 4;
  std::vector<FlowSnapshot> list;
  list.reserve(std::min(count, flows_.size()));
  std::uint32_t slot = flows_.nth(first);
  std::uint32_t ahead = slot;
  const auto fetch_next = [&] {
    if (ahead == kNoSlot) return;
    flows_.prefetch(ahead);
    ahead = flows_.from(ahead + 1);
  };
  for (std::size_t i = 0; i < std::min(kAhead, count); ++i) fetch_next();
  for (; slot != kNoSlot && list.size() < count; slot = flows_.from(slot + 1)) {
    fetch_next();
    work_.add();
    catch_up(slot, now);
    list.push_back(describe(flow(slot), *peers_[flow(slot).peer], now));
  }
  return list;
}

std::optional<FlowSnapshot> FlowRelay::snapshot(std::uint64_t id, Instant now) {
  const std::uint32_t slot = flows_.find(id, work_);
  if (slot == kNoSlot) return std::nullopt;
  catch_up(slot, now);
  return describe(flow(slot), *peers_[flow(slot).peer], now);
}

}  // namespace satrelay::gateway
