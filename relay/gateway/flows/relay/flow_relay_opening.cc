// How a flow begins: with its host's SYN, or with a stream that a peer opens for it.
#include <memory>
#include <utility>

#include "relay/gateway/flows/flow_modes.h"
#include "relay/gateway/flows/relay/flow_relay.h"
#include "relay/gateway/steering/flow_hash.h"

namespace satrelay::gateway {
namespace {

// The key by which the rules match a connection that comes from a peer.
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

std::optional<Counter> FlowRelay::lack_of_room(std::size_t peer, const IpAddress& host) const {
  if (flows_.free_slots() == 0) return Counter::kBridgedTableFull;
  if (const auto lack = quotas_.lack(configured(peer), host, Origin::kLan)) return lack;
  const Arena& part = arena_of(peer);
  const EqualParts& half_open = quotas_.half_open();
  if (!windows_.has_place_for_host(part, half_open.held(configured(peer)), half_open.taken()) ||
      !windows_.has_window(part, quotas_.hosts().find(host)) ||
      !peers_[peer]->session.has_lane_share()) {
    return Counter::kBridgedMemoryLow;
  }
  return std::nullopt;
}

FlowRelay::Places FlowRelay::places(std::size_t peer, const IpAddress& host) const {
  return {.all = flows_.free_slots(),
          .of_peer = quotas_.places_towards(configured(peer)),
          .of_host = quotas_.places_of(host)};
}

Handshake FlowRelay::handshake(const config::Rule& rule, const FlowKey& key, std::size_t peer,
                               Instant now) const {
  using config::HandshakeMode;
  using Cause = Handshake::Cause;
  const auto by_server = [](Cause cause) { return Handshake{HandshakeMode::kRemote, cause}; };
  if (rule.modes.handshake == HandshakeMode::kRemote) return by_server(Cause::kRule);
  if (rule.ttl == config::TtlMode::kPreserve &&
      !common_.far_marks.find(key.remote, key.remote_port, now)) {
    return by_server(Cause::kTtlUnknown);
  }
  const auto latest = common_.far_services.latest(key, now);
  if (latest == FarServices::Outcome::kRefused) return by_server(Cause::kServiceRefused);
  if (!latest && rule.modes.handshake == HandshakeMode::kAuto) {
    return by_server(Cause::kServiceUnknown);
  }
  if (common_.far_families.is_silent(configured(peer), key.remote, now)) {
    return by_server(Cause::kFamilySilent);
  }
  if (common_.peer_refusals.is_doubtful(configured(peer), key.local, key.remote, now)) {
    return by_server(Cause::kPeerRefused);
  }
  return {};
}

std::uint32_t FlowRelay::new_flow(const FlowKey& key, const RulePtr& rule, Origin origin,
                                  std::size_t peer, Instant now,
                                  std::optional<std::uint32_t> initial_sequence) {
  tcp::Config config = endpoint_config(key, peer, now);
  if (initial_sequence) config.initial_sequence = *initial_sequence;
  if (origin == Origin::kPeer && claims_.is_behind_a_peer(key.local)) {
    const FlowKey back{key.remote, key.local, key.remote_port, key.local_port, {}};
    records_.own_syns.remember(back, config.initial_sequence, now);
  }
  auto made = std::make_unique<Flow>(
      key, rule, origin, config, arena_of(peer),
      tcp::Endpoint::Shared{&tcp_counters_, of_endpoints_[configured(peer)]}, now);
  Flow& f = *made;
  SATRELAY_CHECK(f.endpoint.own_memory());  // lack_of_room() or has_place() has checked this
  f.peer = static_cast<std::uint32_t>(peer);
  f.epoch_log = peers_[peer]->epoch_log.count();
  f.epochs_looked_at = epoch_log_;
  f.configurations = configurations_;
  quotas_.begin(f, configured(peer));
  ++peers_[peer]->flows;
  peers_[peer]->bell.ring();
  return flows_.add(std::move(made));
}

void FlowRelay::accept(const FlowKey& key, const Frame& frame, const wire::TcpHeader& syn,
                       std::optional<std::uint32_t> cookie, std::size_t peer, const RulePtr& chosen,
                       Instant now) {
  const config::Rule& rule = chosen->rule;
  const std::uint32_t slot = new_flow(key, chosen, Origin::kLan, peer, now, cookie);
  Flow& f = flow(slot);
  f.modes = rule.modes;
  // A cookie has already answered the host.
  f.modes.handshake = cookie ? config::HandshakeMode::kLocal : handshake(rule, key, peer, now).mode;
  f.syn_sequence = syn.sequence;
  f.to_host = lan_.way_back(host_pair(key), frame.ethernet, now);
  if (f.to_host.destination != frame.ethernet.source) {
    f.make_rare().other_mac = f.make_rare().sender_mac = frame.ethernet.source;
  }
  f.set_metadata({.ethernet = frame.ethernet,
                  .client = key.local,
                  .server = key.remote,
                  .client_port = key.local_port,
                  .server_port = key.remote_port,
                  .traffic_class = frame.ip.traffic_class,
                  .hop_limit = frame.ip.hop_limit,
                  .class_name = rule.traffic_class,
                  .modes = f.modes,
                  .ecn_offered = (syn.flags & tcp::Ecn::kSetup) == tcp::Ecn::kSetup,
                  .options = syn.options});
  f.host_marks = f.told_marks = PathMarks::of(frame.ip.traffic_class, frame.ip.hop_limit);
  // Most hosts have the same marks in all connections.
  f.far_marks = common_.far_marks.guess(key.remote, key.remote_port, now)
                    .value_or(PathMarks{.traffic_class = f.host_marks.traffic_class});
  hosts_.write_down(f);
  flows_.count_half_open(f);
  quotas_.count_half_open(f, configured(peer));
  counters_.add(Counter::kFlowsAccepted);
  if (f.modes.handshake == config::HandshakeMode::kRemote &&
      rule.modes.handshake != config::HandshakeMode::kRemote) {
    counters_.add(Counter::kHandshakesLearnt);
  }
  hold_back(f, now);
  if (cookie) counters_.add(Counter::kFlowsBySynCookie);
  using Answer = tcp::Endpoint::Answer;
  const bool remote = f.modes.handshake == config::HandshakeMode::kRemote;
  f.endpoint.accept(syn, now, cookie ? Answer::kSent : remote ? Answer::kLater : Answer::kAtOnce);
  if (remote) open_stream(slot, now);
  queue(slot);
}

void FlowRelay::handle_opened(std::size_t peer, stp::StreamId stream, Instant now) {
  stp::Session& session = peers_[peer]->session;
  const auto metadata = parse_open_metadata(session.metadata(stream));
  if (!metadata) {
    session.reset(stream, stp::ResetReason::kProtocolError, now);
    counters_.add(Counter::kFlowsResetProtocol);
    return;
  }
  // Refuse a flow on a wrong lane. Another worker may get the answers of its host, or a later flow
  // with this 4-tuple would be on another lane.
  const Lane& lane = peers_[peer]->lane;
  if (!lane.has_flow(flow_hash(metadata->client, metadata->server, metadata->client_port,
                               metadata->server_port))) {
    session.reset(stream, stp::ResetReason::kProtocolError, now);
    counters_.add(Counter::kFlowsRefusedLane);
    return;
  }
  if (!claims_.allow(lane.peer, {metadata->client, metadata->server, metadata->ethernet})) {
    session.reset(stream, stp::ResetReason::kPolicy, now);
    counters_.add(Counter::kFlowsRefusedForeign);
    return;
  }
  // If a router is between the LANs, the L2 header of OPEN says nothing about this LAN. Use the
  // header by which this LAN reaches the server.
  auto to_host = lan_.is_routed(lane.peer) ? lan_.find(metadata->server, now) : metadata->ethernet;
  const bool unheard = !to_host;
  if (unheard) to_host.emplace();
  to_host->type = metadata->ethernet.type;
  const FlowKey key{metadata->server, metadata->client, metadata->server_port,
                    metadata->client_port, vlans_of(*to_host)};
  orphans_.forget(key);
  if (const std::uint32_t old = flows_.find(key); old != kNoSlot) {
    if (meet(old, peer, stream, *metadata, now)) return;
    supersede(old, peer, now);
  }
  end_time_wait(key, now);  // the new flow replaces it
  const auto refuse = [&](Counter reason) {
    session.reset(stream, stp::ResetReason::kNoResources, now);
    counters_.add(reason);
    ++peers_[peer]->flows_refused;
    want_room(peer, key.local);
  };
  if (flows_.find(key) != kNoSlot || !windows_.has_place(arena_of(peer))) {
    return refuse(Counter::kFlowsResetNoResources);
  }
  if (const auto lack = quotas_.lack(lane.peer, key.local, Origin::kPeer)) return refuse(*lack);
  const RulePtr& rule = policy_.match(policy_key(*metadata, *to_host, lane.peer));
  ++rule->use.connections;
  if (rule->rule.action == config::Action::kDrop || rule->rule.action == config::Action::kReset) {
    session.reset(stream, stp::ResetReason::kRefused, now);
    counters_.add(Counter::kFlowsRefusedByRule);
    return;
  }
  const std::uint32_t slot = new_flow(key, rule, Origin::kPeer, peer, now);
  Flow& f = flow(slot);
  f.set_metadata(*metadata);
  f.modes = metadata->modes;
  hold_back(f, now);
  f.to_host = *to_host;
  if (!unheard) hosts_.write_down(f);
  hear_far_host(f, now);
  f.far_marks = PathMarks::of(metadata->traffic_class, metadata->hop_limit);
  note_far_marks(f, now);
  f.host_marks.traffic_class = f.told_marks.traffic_class = f.far_marks.traffic_class;
  f.stream = stream;
  f.state.open_stream();
  streams_.adopt(slot, f, stream);
  asked_.add(key, slot);
  counters_.add(Counter::kFlowsFromPeer);
  f.endpoint.connect(metadata->options, now,
                     metadata->ecn_offered ? tcp::EcnOffer::kYes : tcp::EcnOffer::kNo);
  if (unheard) hosts_.ask(slot, now);
  advance(slot, now);
}

void FlowRelay::open_stream(std::uint32_t slot, Instant now) {
  Flow& f = flow(slot);
  const StreamSide::Opening opening = streams_.open(slot, f, now);
  if (opening == StreamSide::Opening::kOpen || opening == StreamSide::Opening::kLater) return;
  // The host must not believe that it is connected.
  const bool gone = opening == StreamSide::Opening::kPeerGone;
  count_end(f, gone ? Counter::kFlowsResetPeerClosed : Counter::kFlowsResetNoResources);
  f.state.end_stream();
  abort_or_abandon(f, gone ? stp::ResetReason::kShutdown : stp::ResetReason::kNoResources, now);
}

}  // namespace satrelay::gateway
