#include "relay/gateway/flow_relay.h"

#include <algorithm>
#include <array>
#include <numeric>

#include "relay/gateway/flow_modes.h"
#include "relay/gateway/flow_snapshot.h"
#include "relay/gateway/path_error.h"
#include "relay/gateway/path_mtu_advice.h"
#include "relay/gateway/bare_segment.h"
#include "relay/gateway/tcp_frame.h"

namespace satrelay::gateway {
namespace {

// Segments that a flow may send before the next one has its turn: keeps its lines in cache.
constexpr std::uint32_t kTurn = 16;
constexpr std::uint64_t kSmallestBlock = 1024;
constexpr std::size_t kAmplePlaces = 4096;
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

wire::EthernetHeader reversed(wire::EthernetHeader header) {
  std::swap(header.source, header.destination);
  return header;
}

PathMarks marks_of(std::uint8_t traffic_class, std::uint8_t hop_limit) {
  return {.traffic_class = static_cast<std::uint8_t>(traffic_class & 0xfcU),
          .hop_limit = hop_limit};
}

// A connection that comes from a peer, as the rules see it.
PolicyKey policy_key(const OpenMetadata& metadata, const wire::EthernetHeader& to_host,
                     std::size_t peer) {
  return {.source = metadata.client,
          .destination = metadata.server,
          .port = metadata.server_port,
          .protocol = wire::kProtocolTcp,
          .vlan = outermost_vlan(to_host),
          .dscp = static_cast<std::uint8_t>(metadata.traffic_class >> 2),
          .direction = config::Direction::kInbound,
          .peer = peer};
}

}  // namespace

FlowRelay::FlowRelay(const config::Gateway& config, const MemoryPlan& plan, HashKey secret,
                     const Policy& policy, const TrafficClasses& classes, LanNeighbours& lan,
                     Arena& arena, std::vector<std::unique_ptr<Peer>>& peers,
                     BridgedSyns& bridged_syns, MutableBytes journal, const Stopwatch* stopwatch,
                     Counters& counters)
    : limits_(config.limits),
      host_side_(config, plan, secret),
      plan_(plan),
      promised_to_peers_(std::accumulate(plan.lane_receive_limit.begin(),
                                         plan.lane_receive_limit.end(), std::uint64_t{0})),
      policy_(policy),
      classes_(classes),
      fair_hosts_(config.fair_hosts),
      host_key_(secret),
      lan_(lan),
      arena_(arena),
      peers_(peers),
      bridged_syns_(bridged_syns),
      counters_(counters),
      splice_(config.compress_level, dictionaries_, stopwatch),
      table_(config.limits.flows, secret),
      ended_(secret, BridgedSyns::kRepetitions),
      cookies_(secret, counters),
      claims_(config, policy),
      in_use_(secret, BridgedSyns::kRepetitions),
      turned_syns_(secret, BridgedSyns::kRepetitions),
      journal_(journal),
      orphans_(config.limits.flows, secret, journal_, lan, claims_, counters),
      flows_(config.limits.flows),
      live_slots_(config.limits.flows),
      by_id_(config.limits.flows),
      unheard_(config.limits.flows),
      timers_(config.limits.flows),
      ring_(config.limits.flows),
      queued_(config.limits.flows, false) {
  free_slots_.reserve(config.limits.flows);
  for (std::uint32_t slot = config.limits.flows; slot > 0; --slot) free_slots_.push_back(slot - 1);
}

// --- opening -----------------------------------------------------------------------------------

std::uint32_t FlowRelay::new_flow(const FlowKey& key, const RulePtr& rule, Origin origin,
                                  std::size_t peer, Instant now,
                                  std::optional<std::uint32_t> initial_sequence) {
  const std::uint32_t slot = free_slots_.back();
  free_slots_.pop_back();
  tcp::Config config = host_side_.config_for(key, first_window(), now);
  if (initial_sequence) config.initial_sequence = *initial_sequence;
  if (origin == Origin::kPeer && claims_.is_behind_a_peer(key.local)) {
    const FlowKey back{key.remote, key.local, key.remote_port, key.local_port, {}};
    turned_syns_.remember(back, config.initial_sequence, now);
  }
  flows_[slot] = std::make_unique<Flow>(key, rule, origin, config, arena_, tcp_counters_, now);
  Flow& f = flow(slot);
  SATRELAY_CHECK(f.endpoint.own_memory(kOwnBlocks));  // as lack_of_room() has seen
  f.id = ++flows_so_far_;
  f.peer = peer;
  f.upheavals = peers_[peer]->upheavals.count();
  f.upheavals_looked_at = upheavals_;
  f.configurations = configurations_;
  table_.insert(key, slot);
  by_id_.insert(f.id, slot);
  live_slots_.set(slot);
  ++live_;
  ++peers_[peer]->flows;
  return slot;
}

bool FlowRelay::answer_by_cookie(const FlowKey& key, const Frame& frame, const wire::TcpHeader& syn,
                                 std::size_t peer, const config::Rule& rule, Instant now) {
  if (half_open_ < limits_.half_open || rule.modes.handshake != config::HandshakeMode::kLocal ||
      lack_of_room(peer)) {
    return false;
  }
  // Of a flood's cookies hardly any come back; but with few places left, there is one for each.
  if (free_slots_.size() < kAmplePlaces && cookies_.outstanding(now) >= free_slots_.size()) {
    return false;
  }
  cookies_.answer(key, reversed(frame.ethernet), syn,
                  host_side_.config_for(key, first_window(), now), now);
  return true;
}

std::optional<Counter> FlowRelay::accept(const FlowKey& key, const Frame& frame,
                                         const wire::TcpHeader& syn,
                                         std::optional<std::uint32_t> cookie, std::size_t peer,
                                         const RulePtr& chosen, Instant now) {
  const config::Rule& rule = chosen->rule;
  if (const auto lack = lack_of_room(peer)) return lack;
  if (!cookie && half_open_ >= limits_.half_open) return Counter::kBridgedHalfOpenFull;
  const std::uint32_t slot = new_flow(key, chosen, Origin::kLan, peer, now, cookie);
  Flow& f = flow(slot);
  f.modes = rule.modes;
  f.syn_sequence = syn.sequence;
  f.to_host = reversed(frame.ethernet);
  f.metadata = {.ethernet = frame.ethernet,
                .client = key.local,
                .server = key.remote,
                .client_port = key.local_port,
                .server_port = key.remote_port,
                .traffic_class = frame.ip.traffic_class,
                .hop_limit = frame.ip.hop_limit,
                .class_name = rule.traffic_class,
                .modes = rule.modes,
                .ecn_offered = (syn.flags & tcp::Ecn::kSetup) == tcp::Ecn::kSetup,
                .options = syn.options};
  f.host_marks = f.told_marks = marks_of(f.metadata.traffic_class, f.metadata.hop_limit);
  f.far_marks.traffic_class = f.host_marks.traffic_class;  // most hosts answer alike
  write_down(f);
  f.half_open = true;
  ++half_open_;
  counters_.add(Counter::kFlowsAccepted);
  hold_back(f, now);
  if (cookie) counters_.add(Counter::kFlowsBySynCookie);
  using Answer = tcp::Endpoint::Answer;
  const bool remote = rule.modes.handshake == config::HandshakeMode::kRemote;
  f.endpoint.accept(syn, now, cookie ? Answer::kSent : remote ? Answer::kLater : Answer::kAtOnce);
  if (remote) open_stream(slot, now);
  queue(slot);
  return std::nullopt;
}

void FlowRelay::handle_opened(std::size_t peer, const stp::Event& event, Instant now) {
  stp::Session& session = peers_[peer]->session;
  if (Liaison& liaison = peers_[peer]->liaison; liaison.handle_opened(event.stream, now)) {
    if (const auto stream = liaison.take_doubt()) handle_doubt(peer, *stream, now);
    peers_[peer]->dictionaries.update(classes_, liaison.peer_dictionaries());
    return;
  }
  const auto metadata = parse_open_metadata(session.metadata(event.stream));
  if (!metadata) {
    session.reset(event.stream, stp::ResetReason::kProtocolError, now);
    counters_.add(Counter::kFlowsResetProtocol);
    return;
  }
  if (!claims_.allow(peer, {metadata->client, metadata->server, metadata->ethernet})) {
    session.reset(event.stream, stp::ResetReason::kPolicy, now);
    counters_.add(Counter::kFlowsRefusedForeign);
    return;
  }
  // Behind a router the far LAN's header means nothing: this LAN's does.
  auto to_host = lan_.is_routed(peer) ? lan_.find(metadata->server) : metadata->ethernet;
  const bool unheard = !to_host;
  if (unheard) to_host.emplace();
  to_host->type = metadata->ethernet.type;
  const FlowKey key{metadata->server, metadata->client, metadata->server_port,
                    metadata->client_port, vlans_of(*to_host)};
  orphans_.forget(key);
  if (const std::uint32_t old = table_.find(key); old != kNoSlot) {
    if (meet(old, peer, event.stream, *metadata, now)) return;
    supersede(old, peer, now);
  }
  if (table_.find(key) != kNoSlot || !has_place()) {
    session.reset(event.stream, stp::ResetReason::kNoResources, now);
    counters_.add(Counter::kFlowsResetNoResources);
    return;
  }
  const RulePtr& rule = policy_.match(policy_key(*metadata, *to_host, peer));
  ++rule->use.connections;
  if (rule->rule.action == config::Action::kDrop || rule->rule.action == config::Action::kReset) {
    session.reset(event.stream, stp::ResetReason::kRefused, now);
    counters_.add(Counter::kFlowsRefusedByRule);
    return;
  }
  const std::uint32_t slot = new_flow(key, rule, Origin::kPeer, peer, now);
  Flow& f = flow(slot);
  f.metadata = *metadata;
  f.modes = metadata->modes;
  hold_back(f, now);
  f.to_host = *to_host;
  if (!unheard) write_down(f);
  f.far_marks = marks_of(metadata->traffic_class, metadata->hop_limit);
  f.host_marks.traffic_class = f.told_marks.traffic_class = f.far_marks.traffic_class;
  f.stream = event.stream;
  f.stream_state = StreamState::kOpen;
  session.set_context(event.stream, slot);
  join_class(f);
  counters_.add(Counter::kFlowsFromPeer);
  f.endpoint.connect(metadata->options, now,
                     metadata->ecn_offered ? tcp::EcnOffer::kYes : tcp::EcnOffer::kNo);
  if (unheard) {
    lan_.ask(key.local, now);
    unheard_.insert(unheard_hash(key.local, f.to_host), slot);
  }
  advance(slot, now);
}

void FlowRelay::open_stream(std::uint32_t slot, Instant now) {
  Flow& f = flow(slot);
  std::array<std::byte, kMaxOpenMetadata> metadata{};
  const std::size_t size = write_open_metadata(f.metadata, metadata);
  const auto stream = session_of(f).open_stream(ConstBytes(metadata).first(size), slot, now);
  if (!stream) {
    const stp::PeerState peer = session_of(f).peer_state();
    // Started anew between SYN and ACK: it has promised nothing yet, and is being greeted.
    if (peer == stp::PeerState::kConnecting) return;
    // The host must not believe in a connection.
    const bool gone = peer != stp::PeerState::kAlive;
    count_end(f, gone ? Counter::kFlowsResetPeerClosed : Counter::kFlowsResetNoResources);
    f.stream_state = StreamState::kOver;
    abort_or_abandon(f, gone ? stp::ResetReason::kShutdown : stp::ResetReason::kNoResources, now);
    return;
  }
  f.stream = *stream;
  f.stream_state = StreamState::kOpen;
  join_class(f);
}

// The far gateway does so too: the name of the class crosses, what it means is each gateway's own.
void FlowRelay::join_class(Flow& f) {
  const bool local = fair_hosts_ == config::FairHosts::kLocal;
  f.traffic_class = classes_.of_relayed(f.metadata.class_name);
  const std::uint64_t host = hash_host(host_key_, local ? f.key.local : f.key.remote);
  session_of(f).set_group(f.stream, f.traffic_class, host);
  if (f.inbound) session_of(f).set_group(*f.inbound, f.traffic_class, host);
}

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
    if (const auto towards = reversed(frame.ethernet); towards != f.to_host) {
      f.to_host = towards;
      write_down(f);
    }
    if (!payload.empty() || header.has(wire::TcpFlags::kSyn)) {
      f.host_marks = marks_of(frame.ip.traffic_class, frame.ip.hop_limit);
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
  if (event.kind == Kind::kPeerAlive) look_at_all();
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
  if (event.context == peers_[peer]->liaison.context()) {
    peers_[peer]->liaison.handle_event(event, orphans_, now);
    return;
  }
  const std::uint32_t slot = event.context;
  if (slot >= flows_.size() || flows_[slot] == nullptr) return;
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
  for (int i = 0; i < kFlowsPerCall && timers_.next_deadline() <= now; ++i) {
    const std::uint32_t slot = timers_.next_slot();
    timers_.set(slot, Instant::never());
    work_.add();
    catch_up(slot, now);
    Flow& f = flow(slot);
    f.armed = Instant::never();  // settle() arms it anew
    f.endpoint.handle_timeout(now);
    if (is_unheard(f) && !f.endpoint.is_closed() && now >= f.created + LanNeighbours::kPatience) {
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
  orphans_.handle_timeout(now);
  go_on(now);
}

Instant FlowRelay::next_timeout() const {
  if (ring_count_ > 0 || lap_left_ > 0 || !hearing_.empty() || cookies_.has_frames() ||
      !farewells_.empty()) {
    return {};
  }
  return earlier(timers_.next_deadline(), orphans_.next_timeout());
}

// --- splicing ----------------------------------------------------------------------------------

void FlowRelay::produce(stp::StreamId stream, std::uint32_t context, Instant now) {
  if (context >= flows_.size()) {
    peers_[context - flows_.size()]->liaison.produce(stream);
    return;
  }
  catch_up(context, now);
  Flow& f = flow(context);
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
  queue(context);  // consuming may have opened the host's window
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
    if (session.send_room(f.stream) > 0) session.set_ready(f.stream, true);
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
  const SpliceResult result = splice_.to_host(f, session, host_allowance(f), memory);
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

void FlowRelay::release_stream_if_done(Flow& f) {
  stp::Session& session = session_of(f);
  const stp::StreamId inbound = f.inbound_stream();
  if (!f.delivered || !session.received_end(inbound) || !all_confirmed(f, session)) return;
  if (session.received(inbound)->readable() > 0) return;
  session.release(f.stream);
  if (f.inbound) {
    // Not before: the end of a stream may overtake the OPEN of the other.
    session.finish(inbound);
    session.release(inbound);
    f.inbound.reset();
  }
  f.stream_state = StreamState::kOver;
}

void FlowRelay::advance(std::uint32_t slot, Instant now) {
  work_.add();
  Flow& f = flow(slot);
  if (!f.established && f.endpoint.is_synchronised()) {
    f.established = true;
    if (f.half_open) {
      f.half_open = false;
      --half_open_;
    }
    if (f.origin == Origin::kLan && f.stream_state == StreamState::kOpen) {
      counters_.add(Counter::kFlowsEstablished);
    }
  }
  // With a peer that may have been started anew it waits until that is settled.
  if (awaits_stream(f) && !session_of(f).doubts_peer()) {
    open_stream(slot, now);
    if (f.stream_state == StreamState::kOpen) counters_.add(Counter::kFlowsEstablished);
  }
  if (f.stream_state == StreamState::kOpen) feed_stream(f);
  if (f.stream_state == StreamState::kOpen) feed_host(f, now);
  if (f.stream_state == StreamState::kOpen) confirm(f, session_of(f));
  if (f.endpoint.is_closed() && !f.close_handled) handle_closed_endpoint(f, now);
  if (f.stream_state == StreamState::kOpen) release_stream_if_done(f);
  queue(slot);
}

// --- output ------------------------------------------------------------------------------------

void FlowRelay::queue(std::uint32_t slot) {
  if (queued_[slot]) return;
  queued_[slot] = true;
  ring_[(ring_first_ + ring_count_) % ring_.size()] = slot;
  ++ring_count_;
}

std::size_t FlowRelay::poll_frame(MutableBytes out, Instant now) {
  if (!farewells_.empty()) {
    const Farewell last = farewells_.front();
    farewells_.pop_front();
    return write_bare_segment(last.to_host, last.key, last.header, out);
  }
  for (int i = 0; ring_count_ > 0 && (i < kFlowsPerCall || is_shutting_down_); ++i) {
    const std::uint32_t slot = ring_[ring_first_];
    work_.add();
    if (flows_[slot] != nullptr) catch_up(slot, now);
    if (flows_[slot] != nullptr && turn_ < kTurn && !is_unheard(flow(slot))) {
      if (const auto segment = flow(slot).endpoint.poll_segment(now)) {
        ++turn_;
        return write_tcp_frame(flow(slot), *segment, out);
      }
    }
    const bool more = turn_ >= kTurn;  // its turn is over, not its output
    turn_ = 0;
    ring_first_ = (ring_first_ + 1) % ring_.size();
    --ring_count_;
    queued_[slot] = false;
    if (flows_[slot] == nullptr) continue;
    if (more) {
      queue(slot);
    } else {
      settle(slot, now);
    }
  }
  // Last, so that a flood of SYNs takes what flows leave.
  const std::size_t size = orphans_.poll_frame(out, now);
  return size > 0 ? size : cookies_.poll_frame(out);
}

// --- getters -----------------------------------------------------------------------------------

std::vector<FlowSnapshot> FlowRelay::snapshot(std::size_t first, std::size_t count, Instant now) {
  std::vector<FlowSnapshot> list;
  for (std::uint32_t slot = live_slots_.nth(first); slot != kNoSlot && list.size() < count;
       slot = live_slots_.from(slot + 1)) {
    work_.add();
    catch_up(slot, now);
    list.push_back(describe(flow(slot), *peers_[flow(slot).peer], now));
  }
  return list;
}

std::optional<FlowSnapshot> FlowRelay::snapshot(std::uint64_t id, Instant now) {
  for (std::uint32_t slot = by_id_.first(id); slot != kNoSlot; slot = by_id_.next(slot)) {
    work_.add();
    if (flow(slot).id != id) continue;
    catch_up(slot, now);
    return describe(flow(slot), *peers_[flow(slot).peer], now);
  }
  return std::nullopt;
}

}  // namespace satrelay::gateway
