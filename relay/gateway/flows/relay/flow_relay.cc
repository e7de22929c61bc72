#include "relay/gateway/flows/relay/flow_relay.h"

#include "relay/gateway/flows/bytes/urgent.h"
#include "relay/gateway/flows/flow_deadline.h"
#include "relay/gateway/flows/flow_modes.h"
#include "relay/gateway/flows/flow_snapshot.h"
#include "relay/gateway/flows/hosts/host_questions.h"
#include "relay/gateway/frames/path_error.h"
#include "relay/gateway/frames/path_mtu_advice.h"

namespace satrelay::gateway {
namespace {

// Maximum number of flows that one call visits in each of three loops: over flows with due timers,
// over unfinished flows, and over flows that may have a frame to send.
constexpr int kFlowsPerCall = 64;

void note_payload(const Flow& f, FlowHot& hot, Instant now) {
  hot.last_payload = now;
  hot.wait.begin(f.bytes.from_lan, f.endpoint.received().readable(), now);
}

// The memory that the payloads may need. Together they may touch two blocks more than their bytes
// fill: the partly filled blocks at the beginning and at the end.
std::size_t room_of(std::span<const tcp::Segment> segments, const Arena& arena) {
  std::size_t size = 2 * arena.block_size();
  for (const tcp::Segment& segment : segments) size += segment.payload.size();
  return size;
}

// Bytes that the host has not acknowledged; an unacknowledged SYN and FIN each count as one more.
std::uint64_t owed_by(const Flow& f) {
  const tcp::Endpoint& endpoint = f.endpoint;
  return endpoint.sending().unacknowledged() + (endpoint.is_synchronised() ? 0U : 1U) +
         (endpoint.sending().has_finished() ? 0U : 1U);
}

// Number of retransmissions and window probes that timers have caused so far.
std::uint64_t repeats_of(const tcp::Counters& counters) {
  return counters.retransmission_timeouts + counters.zero_window_probes;
}

bool has_stray_answer(const Flow& f) {
  return static_cast<std::uint16_t>(f.endpoint.questions().stray_answers()) !=
         f.handled.stray_answers;
}

}  // namespace

FlowRelay::FlowRelay(const config::Gateway& config, const MemoryPlan& plan, HashKey secret,
                     const RelayEnvironment& around, const Stopwatch* stopwatch,
                     TcpFrames::Sums sums)
    : parts_(config, plan, secret, around, stopwatch),
      hosts_(parts_, secret),
      moves_(parts_, around, secret),
      late_(parts_, config.limits.time_wait, secret),
      reports_(parts_, around.classes, secret),
      far_resets_(parts_, around, moves_.arrivals(), resets_, ending_, findings_),
      epochs_(parts_, moves_.departures(), hosts_, ending_, transfer_),
      servers_(parts_, secret, ending_, transfer_, epochs_),
      opening_(parts_, around,
               {.room = room_,
                .maker = maker_,
                .reopening = reopening_,
                .late = late_,
                .servers = servers_,
                .hosts = hosts_,
                .findings = findings_,
                .epochs = epochs_,
                .transfer = transfer_}),
      budget_(around.budget),
      frames_(sums) {}

// --- input -------------------------------------------------------------------------------------

bool FlowRelay::handle_segments(std::uint32_t slot, const Frame& frame,
                                std::span<const tcp::Segment> segments, Visit visit, Instant now) {
  while (!segments.empty()) {
    epochs_.catch_up(slot, now);
    std::size_t taken = 1;
    if (!servers_.handle_other_connection(slot, *segments.front().header, now)) {
      taken = take_segments(parts_.flows[slot], frame, segments, visit, now);
      visit = Visit::kGoesOn;
    }
    segments = segments.subspan(taken);
  }
  return visit == Visit::kGoesOn;
}

// Handles the first segment, and with it the following segments that the endpoint accepts in the
// same step. Returns the number of segments that were handled.
std::size_t FlowRelay::take_segments(Flow& f, const Frame& frame,
                                     std::span<const tcp::Segment> segments, Visit visit,
                                     Instant now) {
  const auto& [header, payload, ecn] = segments.front();
  const std::uint64_t owed = f.endpoint.sending().unacknowledged();
  const MacAddress used = f.lan.to_host.destination;
  const bool elsewhere = HostTracker::is_elsewhere(f, frame);
  const std::uint64_t owed_in_all = elsewhere ? owed_by(f) : 0;
  const std::uint64_t in_order = f.endpoint.received().in_order_end();
  const HostWindows::Means means = parts_.windows.means(f);
  if (visit == Visit::kBegins) parts_.windows.adjust(f, means, parts_.ahead_of(f, now), now);
  // A window that was offered cannot be withdrawn, and many windows together may promise more
  // memory than there is. If a payload would use memory that the streams need to make progress, the
  // gateway handles the payload as lost, and the host retransmits it. If memory is short, each
  // segment is checked separately.
  bool crowds = parts_.windows.crowds_streams(f, means, room_of(segments, parts_.arena_of(f.lane)));
  if (crowds) {
    segments = segments.first(1);
    crowds = parts_.windows.crowds_streams(f, means, payload.size());
  }
  f.endpoint.memory().set_frugal(crowds);
  const std::uint64_t unstored = parts_.tcp_counters.unstored_bytes_in;
  const std::uint64_t repeated = parts_.tcp_counters.duplicate_bytes_in;
  const auto urgent = header->has(wire::TcpFlags::kUrg)
                          ? f.endpoint.receiving().urgent_mark_of(*header, payload.size())
                          : std::nullopt;
  const std::uint32_t stray = f.endpoint.questions().stray_answers();
  f.endpoint.questions().leave(may_ask(f, parts_.session_of(f)));
  const auto [taken, acceptance] = f.endpoint.handle_segments(segments, now);
  if (parts_.tcp_counters.unstored_bytes_in > unstored)
    parts_.counters.add(Counter::kDroppedMemoryLow);
  const bool repeats = parts_.tcp_counters.duplicate_bytes_in > repeated;
  if (repeats) ++f.make_rare().lan.repeated;
  // Use only accepted segments: any station on the LAN can send with these addresses and ports.
  const bool is_accepted = acceptance == tcp::Acceptance::kAccepted;
  if (is_accepted && urgent && note_urgent(f, *urgent, in_order, parts_.tcp_counters)) {
    // An empty segment with a new urgent mark looks like a stray answer, but is none.
    f.handled.stray_answers = static_cast<std::uint16_t>(
        f.handled.stray_answers + f.endpoint.questions().stray_answers() - stray);
  }
  if (has_stray_answer(f)) servers_.doubt(f, now);
  if (!is_accepted) return taken;
  if (elsewhere) [[unlikely]] {
    const bool brings = f.endpoint.received().in_order_end() > in_order;
    hosts_.follow_to(f, frame.ethernet,
                     owed_by(f) < owed_in_all ? HostTracker::MacObservation::kAcknowledges
                     : brings                 ? HostTracker::MacObservation::kBrings
                                              : HostTracker::MacObservation::kNone,
                     now);
  }
  if (repeats) hosts_.note_repeat(f, now);
  hear_question(f, parts_.session_of(f), parts_.counters, now);
  // The host repeats its SYN. Its first SYN was answered at once, so the answer did not reach the
  // host.
  const bool is_answered = f.modes.handshake == config::HandshakeMode::kLocal;
  if (header->opens_connection() && is_answered && f.lan.to_host.destination == used) {
    hosts_.seek_host(f, now);
  }
  f.state.note_active();
  if (!payload.empty()) note_payload(f, f.heat(now), now);
  if (!payload.empty() || header->has(wire::TcpFlags::kSyn)) {
    f.marks.host = PathMarks::of(frame.ip.traffic_class, frame.ip.hop_limit);
  }
  // If the flow only has to deliver bytes to the host, a segment counts as activity only if it
  // acknowledges new bytes. Answers to window probes do not count, since other flows may need the
  // memory.
  if (!only_owes(f, parts_.session_of(f)) || f.endpoint.sending().unacknowledged() < owed)
    note_activity(f, now);
  return taken;
}

void FlowRelay::handle_icmp_error(std::uint32_t slot, const Frame& frame, Instant now) {
  epochs_.catch_up(slot, now);
  Flow& f = parts_.flows[slot];
  if (const auto advice = path_mtu_advice(frame)) {
    f.endpoint.handle_packet_too_big(advice->sequence, advice->segment_limit, now);
  } else if (const auto quoted = path_error(frame)) {
    // A peer that does not know RESET reason 14 would reset its client. So for such a peer, an
    // error that may be temporary does not end the attempt.
    const bool may_pass =
        quoted->error == tcp::PathError::kSoft && !parts_.session_of(f).agreed().icmp_refusals();
    const auto error = may_pass ? tcp::PathError::kPassing : quoted->error;
    const bool is_over = f.endpoint.handle_path_error(quoted->sequence, error);
    if (is_over) ending_.hand_over(f, {quoted->code.type, quoted->code.code, frame.ip.source}, now);
  }
  transfer_.advance(slot, now);
}

void FlowRelay::handle_event(LaneId lane, const stp::Event& event, Instant now) {
  using Kind = stp::Event::Kind;
  const std::uint32_t slot = StreamContext(event.context).slot();
  if (!parts_.flows.contains(slot)) return;
  epochs_.catch_up(slot, now);
  Flow& f = parts_.flows[slot];
  const bool known = f.stream == event.stream || f.inbound_stream() == event.stream;
  if (!f.state.has_stream() || !known || f.lane != lane) return;
  if (event.kind == Kind::kReadable || event.kind == Kind::kConfirmed) findings_.note_place(f, now);
  if (event.kind == Kind::kReset) {
    far_resets_.handle(f, event, now);
  } else if (event.kind == Kind::kDelivered) {
    if (f.stream == event.stream) f.state.set_host_end(FlowState::HostEnd::kDelivered);
  } else if (event.kind == Kind::kConfirmed) {
    const stp::Confirmation far = parts_.session_of(f).streams().confirmation(event.stream);
    if (far.answered && !f.state.is_established()) findings_.note_answer(f, now);
    follow(f, parts_.session_of(f), far, now);
    hear_urgent(f, far.urgent, parts_.tcp_counters);
    parts_.windows.adjust(f, parts_.ahead_of(f, now), now);
  }
  // If for more than 100 s our host has acknowledged no retransmission, or has answered no window
  // probe, a CONFIRM does not count as activity, even if it carries a keep-alive of the far host.
  // Otherwise the flow would keep memory that other flows may need.
  if (event.kind != Kind::kConfirmed || !f.endpoint.sending().is_in_vain()) note_activity(f, now);
  transfer_.advance(slot, now);
}

void FlowRelay::handle_timeout(Instant now) {
  advance_unfinished(now);
  late_.handle_timeout(now);
  reports_.handle_timeout(now);
  maker_.handle_timeout(now);
  for (int i = 0; i < kFlowsPerCall; ++i) {
    const auto taken = parts_.flows.take_due(now);  // settle() arms the timer anew
    if (!taken) break;
    const std::uint32_t slot = *taken;
    parts_.work.add();
    epochs_.catch_up(slot, now);
    Flow& f = parts_.flows[slot];
    // If the timer has fired too early, it is only armed again. But if memory is short, the flow is
    // visited in any case: each visit is a chance to free some.
    if (const Instant due = parts_.deadline_of(f);
        due > now && !parts_.windows.crowds_streams(f, 0)) {
      parts_.flows.arm(slot, due);
      continue;
    }
    const std::uint64_t repeats = repeats_of(parts_.tcp_counters);
    f.endpoint.handle_timeout(now);
    if (repeats_of(parts_.tcp_counters) != repeats) hosts_.seek_host(f, now);
    if (f.is_unconfirmed() && !f.endpoint.is_closed() &&
        now >= f.beginning.created + LanNeighbours::kPatience) {
      if (parts_.lan.is_silent_since(f.key.local, f.beginning.created)) {
        const IcmpCode code = host_unreachable(f.key.local.version());
        ending_.hand_over(f, {code.type, code.code}, now);
      }
      ending_.reset(slot, stp::ResetReason::kUnreachable, Counter::kFlowsUnreachable, now);
      continue;
    }
    if (f.timers.retry_at <= now) {
      f.timers.retry_at = Instant::never();
      parts_.windows.adjust(f, parts_.ahead_of(f, now), now);
    }
    if (!f.state.is_trimmed() && now >= f.timers.last_activity + kTrimAfter) transfer_.trim(f);
    if (now >= end_of_wait(f, parts_.give_up_after)) {
      ending_.give_up(slot, now);
      continue;
    }
    if (now >= f.timers.last_activity + quiet_limit(f, parts_.session_of(f), parts_.limits) &&
        !ends_by_itself(f)) {
      if (!awaits_host(f, parts_.session_of(f))) {
        ending_.reset(slot, stp::ResetReason::kTimeout, Counter::kFlowsResetIdle, now);
        continue;
      }
      f.endpoint.send_keep_alive(now);
      f.timers.last_activity = now;
    }
    transfer_.advance(slot, now);
  }
}

Instant FlowRelay::next_timeout() const {
  if (!parts_.flows.ring().empty() || !parts_.unfinished.empty() || parts_.flows.scan_active() ||
      parts_.unconfirmed.any_deferred() || !parts_.flowless.empty()) {
    return {};
  }
  return earlier(earlier(maker_.next_timeout(), reports_.next_timeout()),
                 earlier(parts_.flows.next_deadline(), late_.next_timeout()));
}

// --- splicing ----------------------------------------------------------------------------------

void FlowRelay::produce(stp::StreamId stream, std::uint32_t number, Instant now) {
  const StreamContext context(number);
  if (context.kind() == StreamContext::Kind::kMessages) {
    parts_.lanes[context.lane()]->control_messages.produce(stream, now);
    return;
  }
  const std::uint32_t slot = context.slot();
  epochs_.catch_up(slot, now);
  Flow& f = parts_.flows[slot];
  if (!f.state.has_stream() || f.stream != stream) return;  // the flow was ended meanwhile
  const bool owed_marks = f.owes_marks();
  parts_.streams.produce(f, parts_.windows, now);
  if (owed_marks && !f.owes_marks()) confirm(f, parts_.session_of(f), now);
  parts_.quotas.note_stored(f);
  parts_.queue(slot);  // consuming bytes may have opened the host's window
}

void FlowRelay::advance_unfinished(Instant now) {
  for (int i = 0; i < kFlowsPerCall && !parts_.unfinished.empty() && !budget_.is_spent(); ++i) {
    const std::uint32_t slot = parts_.unfinished.front();
    parts_.unfinished.end_turn();
    if (!parts_.flows.contains(slot)) continue;
    parts_.work.add();
    epochs_.catch_up(slot, now);
    transfer_.advance(slot, now);
  }
}

// --- output ------------------------------------------------------------------------------------

std::size_t FlowRelay::poll_frames(std::span<const MutableBytes> rooms, std::span<Polled> polled,
                                   Instant now) {
  std::size_t count = 0;
  while (count < rooms.size()) {
    const std::size_t more = poll_some(rooms.subspan(count), polled.subspan(count), now);
    if (more == 0) break;
    count += more;
  }
  return count;
}

// Writes one frame, or several frames of one flow.
std::size_t FlowRelay::poll_some(std::span<const MutableBytes> rooms, std::span<Polled> polled,
                                 Instant now) {
  const MutableBytes out = rooms.front();
  const auto wrote = [&](std::size_t size) {
    polled.front() = written(size);
    return size > 0 ? std::size_t{1} : std::size_t{0};
  };
  // A frame that belongs to no flow, but is sent in the name of a far host, carries the DSCP and
  // TTL of that host.
  const auto wrote_marked = [&](std::size_t size) {
    parts_.common.far_marks.mark(out.first(size), now);
    return wrote(size);
  };
  if (const std::size_t size = parts_.flowless.final_segments.poll_frame(out); size > 0) {
    return wrote_marked(size);
  }
  if (const std::size_t size = parts_.flowless.failed_syns.poll_frame(out); size > 0) {
    return wrote(size);
  }
  FlowRing& ring = parts_.flows.ring();
  for (int i = 0; !ring.empty() && (i < kFlowsPerCall || is_shutting_down_); ++i) {
    const std::uint32_t slot = ring.front();
    parts_.work.add();
    if (parts_.flows.contains(slot)) epochs_.catch_up(slot, now);
    if (parts_.flows.contains(slot) && !ring.turn_is_over() &&
        !parts_.flows[slot].is_unconfirmed()) {
      const std::size_t count = poll_flow(slot, rooms, polled, now);
      if (count > 0) {
        if (!parts_.flows[slot].endpoint.may_have_segment()) end_turn(slot, now);
        return count;
      }
    }
    end_turn(slot, now);
  }
  return wrote_marked(parts_.flowless.late_answers.poll_frame(out));
}

std::size_t FlowRelay::poll_flow(std::uint32_t slot, std::span<const MutableBytes> rooms,
                                 std::span<Polled> polled, Instant now) {
  Flow& f = parts_.flows[slot];
  const std::uint64_t retransmitted = parts_.tcp_counters.retransmitted_segments;
  const std::size_t most = std::min<std::size_t>(parts_.flows.ring().left_of_turn(), rooms.size());
  const auto segments = f.endpoint.poll_segments(most, now);
  if (!segments) return 0;
  if (parts_.tcp_counters.retransmitted_segments > retransmitted) ++f.make_rare().lan.retransmitted;
  parts_.flows.ring().count_segments(segments->count);
  frames_.write(f, *segments, rooms, polled);
  return segments->count;
}

// Ends the turn of the flow in `slot`, the first flow of the ring. The flow has nothing more to
// send, or has sent as many segments as one turn allows.
void FlowRelay::end_turn(std::uint32_t slot, Instant now) {
  FlowRing& ring = parts_.flows.ring();
  const bool more = ring.turn_is_over();  // the turn is used up, but the flow may have more to send
  ring.end_turn();
  if (!parts_.flows.contains(slot)) return;
  if (more) {
    ring.add(slot);
  } else {
    transfer_.settle(slot, now);
  }
}

void FlowRelay::hear_destination(LaneId lane, const LanDestination& told, Instant now) {
  hosts_.hear_destination(lane, epochs_.find_open(lane, told.stream, now), told, now);
}

void FlowRelay::reconfigure(const config::Gateway& next, Instant now) {
  parts_.limits.idle_timeout = next.limits.idle_timeout;
  parts_.limits.half_close_timeout = next.limits.half_close_timeout;
  parts_.give_up_after = next.stp.give_up_after;
  opening_.reconfigure(next);
  parts_.streams.offer_dictionaries(now);
  epochs_.note_configuration();
  go_on(now);
}

void FlowRelay::shut_down(Instant now) {
  is_shutting_down_ = true;
  reports_.shut_down();
  for (std::uint32_t slot = parts_.flows.from(0); slot != kNoSlot;
       slot = parts_.flows.from(slot + 1)) {
    epochs_.catch_up(slot, now);
    ending_.reset_without_stream(slot, Counter::kFlowsResetShutdown, now);
  }
}

// --- getters -----------------------------------------------------------------------------------

const FlowKey* FlowRelay::key_of(LaneId lane, const stp::Event& event) const {
  const StreamContext context(event.context);
  if (context.kind() != StreamContext::Kind::kFlow || !parts_.flows.contains(context.slot())) {
    return nullptr;
  }
  const Flow& f = parts_.flows[context.slot()];
  const bool same = f.state.has_stream() && f.stream == event.stream;
  return same && f.lane == lane && !parts_.is_behind(f) ? &f.key : nullptr;
}

std::vector<FlowSnapshot> FlowRelay::snapshot(std::size_t first, std::size_t count, Instant now) {
  // Flows are scattered in memory, and most of them were not used for a long time. So the loop
  // prefetches the flows that follow.
  constexpr std::size_t kAhead = 4;
  std::vector<FlowSnapshot> list;
  list.reserve(std::min(count, parts_.flows.size()));
  std::uint32_t slot = parts_.flows.nth(first);
  std::uint32_t ahead = slot;
  const auto fetch_next = [&] {
    if (ahead == kNoSlot) return;
    parts_.flows.prefetch(ahead);
    ahead = parts_.flows.from(ahead + 1);
  };
  for (std::size_t i = 0; i < std::min(kAhead, count); ++i) fetch_next();
  for (; slot != kNoSlot && list.size() < count; slot = parts_.flows.from(slot + 1)) {
    fetch_next();
    parts_.work.add();
    epochs_.catch_up(slot, now);
    list.push_back(describe(parts_.flows[slot], parts_.lane_of(parts_.flows[slot]), now));
  }
  return list;
}

std::optional<FlowSnapshot> FlowRelay::snapshot(std::uint64_t id, Instant now) {
  const std::uint32_t slot = parts_.flows.find(id, parts_.work);
  if (slot == kNoSlot) return std::nullopt;
  epochs_.catch_up(slot, now);
  return describe(parts_.flows[slot], parts_.lane_of(parts_.flows[slot]), now);
}

}  // namespace satrelay::gateway
