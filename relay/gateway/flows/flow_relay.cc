#include "relay/gateway/flows/flow_relay.h"

#include <algorithm>
#include <numeric>

#include "relay/gateway/flows/flow_modes.h"
#include "relay/gateway/flows/flow_snapshot.h"
#include "relay/gateway/flows/tcp_frame.h"
#include "relay/gateway/frames/path_error.h"
#include "relay/gateway/frames/path_mtu_advice.h"

namespace satrelay::gateway {
namespace {

constexpr std::uint64_t kSmallestBlock = 1024;
// Flows that one call goes over: timers that are due, and those of which none has a frame.
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

}  // namespace

FlowRelay::FlowRelay(const config::Gateway& config, const MemoryPlan& plan, HashKey secret,
                     const Surroundings& around, const Stopwatch* stopwatch)
    : limits_(config.limits),
      host_side_(config, plan, secret),
      plan_(plan),
      promised_to_peers_(std::accumulate(plan.lane_receive_limit.begin(),
                                         plan.lane_receive_limit.end(), std::uint64_t{0})),
      policy_(around.policy),
      claims_(around.claims),
      classes_(around.classes),
      fair_hosts_(config.fair_hosts),
      host_key_(secret),
      lan_(around.lan),
      arena_(around.arena),
      peers_(around.peers),
      records_(around.records),
      journal_(around.journal),
      orphans_(around.orphans),
      counters_(around.counters),
      splice_(config.compress_level, dictionaries_, stopwatch),
      flows_(config.limits.flows, secret),
      unheard_(config.limits.flows, secret) {}

// --- input -------------------------------------------------------------------------------------

void FlowRelay::handle_segment(std::uint32_t slot, const Frame& frame,
                               const wire::TcpHeader& header, ConstBytes payload, Instant now) {
  catch_up(slot, now);
  Flow& f = flow(slot);
  if (makes_way(slot, header, now)) return;
  const std::uint64_t owed = f.endpoint.unacknowledged();
  adjust_window(f, now);
  const tcp::EcnField ecn = tcp::ecn_field(frame.ip.traffic_class);
  // A promised window is not taken back, and many at once may promise more than there is. What
  // would take the room that the streams need to drain counts as lost: the host sends it again.
  f.endpoint.set_frugal(spare_memory() < kept_for_streams() + payload.size());
  const std::uint64_t unstored = tcp_counters_.unstored_bytes_in;
  const tcp::Acceptance acceptance = f.endpoint.handle_segment(header, payload, now, ecn);
  if (tcp_counters_.unstored_bytes_in > unstored) counters_.add(Counter::kDroppedMemoryLow);
  if (f.endpoint.stray_answers() > f.stray_answers) doubt(f, now);
  // Anybody on the LAN can send with these addresses and ports.
  if (acceptance == tcp::Acceptance::kAccepted) {
    if (const auto towards = frame.ethernet.reversed(); towards != f.to_host) {
      f.to_host = towards;
      write_down(f);
    }
    if (!payload.empty() || header.has(wire::TcpFlags::kSyn)) {
      f.host_marks = PathMarks::of(frame.ip.traffic_class, frame.ip.hop_limit);
    }
    // That a host answers probes of its closed window is no reason to wait for it for ever.
    if (!only_owes(f) || f.endpoint.unacknowledged() < owed) f.last_activity = now;
  }
  advance(slot, now);
}

void FlowRelay::handle_icmp_error(std::uint32_t slot, const Frame& frame, Instant now) {
  catch_up(slot, now);
  Flow& f = flow(slot);
  if (const auto advice = path_mtu_advice(frame)) {
    f.endpoint.handle_packet_too_big(advice->sequence, advice->segment_limit, now);
  } else if (const auto quoted = path_error(frame)) {
    f.endpoint.handle_path_error(quoted->sequence, quoted->error);
  }
  advance(slot, now);
}

// About no stream.
void FlowRelay::handle_peer_event(std::size_t peer, const stp::Event& event, Instant now) {
  using Kind = stp::Event::Kind;
  Peer& p = *peers_[peer];
  if (event.kind == Kind::kPeerAlive) p.suspect_since = Instant::never();
  if (event.kind == Kind::kPeerSuspect || event.kind == Kind::kPeerRestarted) {
    p.suspect_since = now;
  }
  if (event.kind == Kind::kPeerAlive) flows_.begin_lap();
  if (event.kind == Kind::kPeerRestarted) upset(peer, Upheavals::Kind::kRestarted);
  if (event.kind == Kind::kPeerClosed) upset(peer, Upheavals::Kind::kClosed);
  p.liaison.handle_event(event, orphans_, now);
  p.dictionaries.update(classes_, p.liaison.peer_dictionaries());
}

void FlowRelay::handle_event(std::size_t peer, const stp::Event& event, Instant now) {
  using Kind = stp::Event::Kind;
  switch (event.kind) {
    case Kind::kPeerAlive:
    case Kind::kPeerSuspect:
    case Kind::kPeerRestarted:
    case Kind::kPeerClosed:
      handle_peer_event(peer, event, now);
      return;
    case Kind::kCapacity:  // the gateway's affair
      return;
    case Kind::kOpened:
      handle_opened(peer, event, now);
      return;
    case Kind::kReadable:
    case Kind::kWritable:
    case Kind::kConfirmed:
    case Kind::kDelivered:
    case Kind::kReset:
      break;
  }
  const StreamContext context(event.context);
  if (context.kind() == StreamContext::Kind::kMessages) {
    peers_[peer]->liaison.handle_event(event, orphans_, now);
    return;
  }
  const std::uint32_t slot = context.index();
  if (!flows_.contains(slot)) return;
  catch_up(slot, now);
  Flow& f = flow(slot);
  const bool known = f.stream == event.stream || f.inbound_stream() == event.stream;
  if (f.stream_state != StreamState::kOpen || !known || f.peer != peer) return;
  if (event.kind == Kind::kReset) {
    reset_streams(f, stp::ResetReason::kNone, now);
    count_end(f, counter_for(event.reason));
    abort_or_abandon(f, event.reason, now);
  } else if (event.kind == Kind::kDelivered) {
    if (f.stream == event.stream) f.delivered = true;
  } else if (event.kind == Kind::kConfirmed) {
    follow(f, session_of(f).confirmation(event.stream), now);
    adjust_window(f, now);
  }
  f.last_activity = now;
  advance(slot, now);
}

void FlowRelay::handle_timeout(Instant now) {
  for (int i = 0; i < kFlowsPerCall; ++i) {
    const auto due = flows_.take_due(now);  // settle() arms it anew
    if (!due) break;
    const std::uint32_t slot = *due;
    work_.add();
    catch_up(slot, now);
    Flow& f = flow(slot);
    f.endpoint.handle_timeout(now);
    if (f.is_unheard() && !f.endpoint.is_closed() && now >= f.created + LanNeighbours::kPatience) {
      reset_flow(slot, stp::ResetReason::kUnreachable, Counter::kFlowsUnreachable, now);
      continue;
    }
    if (f.retry_at <= now) {
      f.retry_at = Instant::never();
      adjust_window(f, now);
    }
    if (now >= f.last_activity + quiet_limit(f) && f.endpoint.state() != tcp::State::kTimeWait) {
      reset_flow(slot, stp::ResetReason::kTimeout, Counter::kFlowsResetIdle, now);
      continue;
    }
    advance(slot, now);
  }
}

Instant FlowRelay::next_timeout() const {
  if (!flows_.ring().empty() || flows_.lap_under_way() || unheard_.any_put_off() ||
      !farewells_.empty()) {
    return {};
  }
  return flows_.next_deadline();
}

// --- splicing ----------------------------------------------------------------------------------

void FlowRelay::produce(stp::StreamId stream, std::uint32_t number, Instant now) {
  const StreamContext context(number);
  if (context.kind() == StreamContext::Kind::kMessages) {
    peers_[context.index()]->liaison.produce(stream, now);
    return;
  }
  const std::uint32_t slot = context.index();
  catch_up(slot, now);
  Flow& f = flow(slot);
  if (f.stream_state != StreamState::kOpen || f.stream != stream) return;  // given up meanwhile
  stp::Session& session = session_of(f);
  const std::uint64_t before = f.bytes_from_lan;
  const SpliceResult result = splice_.to_stream(
      f, session, largest_block(f), peers_[f.peer]->dictionaries.of(f.traffic_class), now);
  f.drained.add(f.bytes_from_lan - before, kPace, now);
  if (result == SpliceResult::kNoMemory) {
    session.set_ready(stream, false);
    retry_later(f, now);
  } else {
    if (f.endpoint.received().readable() == 0) session.set_ready(stream, false);
    feed_stream(f);
  }
  queue(slot);  // consuming may have opened the host's window
}

// A compressed block is delivered whole, and holds credit until then. The unfinished blocks of all
// streams must fit into what the far side grants, which is taken to be what this side grants.
std::size_t FlowRelay::largest_block(const Flow& f) {
  const std::uint64_t streams = std::max<std::uint64_t>(session_of(f).stream_count(), 1);
  const std::uint64_t share = std::min(plan_.lane_receive_limit[f.peer] / (4 * streams),
                                       plan_.flow_receive_limit[f.peer] / 4);
  return static_cast<std::size_t>(
      std::clamp<std::uint64_t>(share, kSmallestBlock, compress::kMaxPlainBlock));
}

void FlowRelay::feed_stream(Flow& f) {
  if (f.finish_sent) return;
  stp::Session& session = session_of(f);
  if (f.endpoint.received().readable() > 0) {
    // With too little room for a block the session waits for more, and calls again.
    session.set_ready(f.stream, true);
  } else if (f.endpoint.peer_finished()) {
    session.finish(f.stream);
    f.finish_sent = true;
  }
}

void FlowRelay::feed_host(Flow& f, Instant now) {
  stp::Session& session = session_of(f);
  if (f.endpoint.is_closed()) return;
  // However little is spare, its own blocks are the flow's.
  std::uint64_t memory = std::max(spare_memory(), own_store());
  const SpliceResult result = splice_.to_host(f, session, host_allowance(f), memory, now);
  if (result == SpliceResult::kMalformed) {
    reset_streams(f, stp::ResetReason::kProtocolError, now);
    count_end(f, Counter::kFlowsResetProtocol);
    f.endpoint.abort(now);
    return;
  }
  const Reassembler& stored = *session.received(f.inbound_stream());
  if (stored.readable() > 0) {
    if (result == SpliceResult::kNoMemory || memory == 0) retry_later(f, now);
    return;
  }
  if (f.closed_to_host || !session.received_end(f.inbound_stream())) return;
  f.closed_to_host = true;
  f.endpoint.close();
}

void FlowRelay::release_stream_if_done(Flow& f, Instant now) {
  stp::Session& session = session_of(f);
  const stp::StreamId inbound = f.inbound_stream();
  if (!f.delivered || !session.received_end(inbound) || !all_confirmed(f, session)) return;
  if (session.received(inbound)->readable() > 0) return;
  session.release(f.stream, now);
  if (f.inbound) {
    // Not before: the end of a stream may overtake the OPEN of the other.
    session.finish(inbound);
    session.release(inbound, now);
    f.inbound.reset();
  }
  f.stream_state = StreamState::kOver;
}

void FlowRelay::advance(std::uint32_t slot, Instant now) {
  work_.add();
  Flow& f = flow(slot);
  if (!f.established && f.endpoint.is_synchronised()) {
    f.established = true;
    flows_.count_answered(f);
    if (f.origin == Origin::kLan && f.stream_state == StreamState::kOpen) {
      counters_.add(Counter::kFlowsEstablished);
    }
  }
  // With a peer that may have been started anew it waits until that is settled.
  if (f.awaits_stream() && !session_of(f).doubts_peer()) {
    open_stream(slot, now);
    if (f.stream_state == StreamState::kOpen) counters_.add(Counter::kFlowsEstablished);
  }
  if (f.stream_state == StreamState::kOpen) feed_stream(f);
  if (f.stream_state == StreamState::kOpen) feed_host(f, now);
  if (f.stream_state == StreamState::kOpen) confirm(f, session_of(f), now);
  if (f.endpoint.is_closed() && !f.close_handled) handle_closed_endpoint(f, now);
  if (f.stream_state == StreamState::kOpen) release_stream_if_done(f, now);
  queue(slot);
}

// --- output ------------------------------------------------------------------------------------

std::size_t FlowRelay::poll_frame(MutableBytes out, Instant now) {
  if (const std::size_t size = farewells_.poll_frame(out); size > 0) return size;
  FlowRing& ring = flows_.ring();
  for (int i = 0; !ring.empty() && (i < kFlowsPerCall || is_shutting_down_); ++i) {
    const std::uint32_t slot = ring.front();
    work_.add();
    if (flows_.contains(slot)) catch_up(slot, now);
    if (flows_.contains(slot) && !ring.turn_is_over() && !flow(slot).is_unheard()) {
      if (const auto segment = flow(slot).endpoint.poll_segment(now)) {
        ring.count_segment();
        return write_tcp_frame(flow(slot), *segment, out);
      }
    }
    const bool more = ring.turn_is_over();  // but its output may not be
    ring.end_turn();
    if (!flows_.contains(slot)) continue;
    if (more) {
      ring.add(slot);
    } else {
      settle(slot, now);
    }
  }
  return 0;
}

// --- getters -----------------------------------------------------------------------------------

std::vector<FlowSnapshot> FlowRelay::snapshot(std::size_t first, std::size_t count, Instant now) {
  std::vector<FlowSnapshot> list;
  for (std::uint32_t slot = flows_.nth(first); slot != kNoSlot && list.size() < count;
       slot = flows_.from(slot + 1)) {
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
