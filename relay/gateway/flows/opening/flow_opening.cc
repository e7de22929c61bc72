#include "relay/gateway/flows/opening/flow_opening.h"

#include <utility>

#include "relay/gateway/flows/flow_modes.h"
#include "relay/gateway/steering/flow_hash.h"

namespace satrelay::gateway {
namespace {

// The key by which the rules match a connection that a peer opens.
PolicyKey policy_key(const OpenMetadata& metadata, const wire::EthernetHeader& to_host,
                     FarGatewayId peer) {
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

FlowOpening::FlowOpening(RelayParts& parts, const RelayEnvironment& around,
                         const OpeningUnits& units)
    : parts_(parts),
      policy_(around.policy),
      claims_(around.claims),
      orphans_(around.orphans),
      units_(units) {
  share_with_endpoints();
}

void FlowOpening::accept(const FlowKey& key, const Frame& frame, const wire::TcpHeader& syn,
                         std::optional<std::uint32_t> cookie, LaneId lane, const RulePtr& chosen,
                         Instant now) {
  const config::Rule& rule = chosen->rule;
  const std::uint32_t slot = new_flow(key, chosen, Origin::kLan, lane, now, cookie);
  Flow& f = parts_.flows[slot];
  f.modes = rule.modes;
  // The SYN cookie has already answered the host.
  f.modes.handshake =
      cookie ? config::HandshakeMode::kLocal : units_.room.handshake(rule, key, lane, now).mode;
  f.beginning.syn_sequence = syn.sequence;
  f.lan.to_host = parts_.lan.way_back(host_pair(key), frame.ethernet, now);
  if (f.lan.to_host.destination != frame.ethernet.source) {
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
  f.marks.host = f.marks.told = PathMarks::of(frame.ip.traffic_class, frame.ip.hop_limit);
  // Most hosts use the same DSCP and TTL in all connections.
  f.marks.far = parts_.common.far_marks.guess(key.remote, key.remote_port, now)
                    .value_or(PathMarks{.traffic_class = f.marks.host.traffic_class});
  units_.hosts.write_down(f);
  parts_.counters.add(Counter::kFlowsAccepted);
  if (f.modes.handshake == config::HandshakeMode::kRemote &&
      rule.modes.handshake != config::HandshakeMode::kRemote) {
    parts_.counters.add(Counter::kHandshakesLearnt);
  }
  hold_back(f, now);
  if (cookie) parts_.counters.add(Counter::kFlowsBySynCookie);
  using tcp::Answer;
  const bool remote = f.modes.handshake == config::HandshakeMode::kRemote;
  f.endpoint.accept(syn, now, cookie ? Answer::kSent : remote ? Answer::kLater : Answer::kAtOnce);
  if (remote) units_.transfer.open_stream(slot, now);
  parts_.queue(slot);
}

void FlowOpening::handle_opened(LaneId id, stp::StreamId stream, Instant now) {
  Lane& lane = *parts_.lanes[id];
  stp::Session& session = lane.session;
  const auto metadata = parse_open_metadata(session.streams().metadata(stream));
  if (!metadata) {
    session.streams().reset(stream, stp::ResetReason::kProtocolError, now);
    parts_.counters.add(Counter::kFlowsResetProtocol);
    return;
  }
  // Refuse a flow on a wrong lane. Otherwise another worker might get the answers of its host, or a
  // later flow with this 4-tuple might be on another lane.
  if (!lane.address.has_flow(flow_hash(metadata->client, metadata->server, metadata->client_port,
                                       metadata->server_port))) {
    session.streams().reset(stream, stp::ResetReason::kProtocolError, now);
    parts_.counters.add(Counter::kFlowsRefusedLane);
    return;
  }
  if (!claims_.allow(lane.address.peer, {metadata->client, metadata->server, metadata->ethernet})) {
    session.streams().reset(stream, stp::ResetReason::kPolicy, now);
    parts_.counters.add(Counter::kFlowsRefusedForeign);
    return;
  }
  // If there is a router between the LANs, the Ethernet header of OPEN is meaningless on this LAN.
  // Use the header with which this LAN reaches the server.
  auto to_host = parts_.lan.is_routed(lane.address.peer) ? parts_.lan.find(metadata->server, now)
                                                         : metadata->ethernet;
  const bool unheard = !to_host;
  if (unheard) to_host.emplace();
  to_host->type = metadata->ethernet.type;
  const FlowKey key{metadata->server, metadata->client, metadata->server_port,
                    metadata->client_port, vlans_of(*to_host)};
  orphans_.forget(key);
  if (const std::uint32_t old = parts_.flows.find(key); old != kNoSlot) {
    if (units_.reopening.meet(old, id, stream, *metadata, now)) return;
    units_.reopening.supersede(old, id, now);
  }
  units_.late.end(key, now);  // the new flow replaces a connection in TIME-WAIT
  const auto refuse = [&](Counter reason) {
    session.streams().reset(stream, stp::ResetReason::kNoResources, now);
    parts_.counters.add(reason);
    ++lane.flows_refused;
    units_.maker.want(id, key.local);
  };
  if (parts_.flows.find(key) != kNoSlot || !parts_.windows.has_place(parts_.arena_of(id))) {
    return refuse(Counter::kFlowsResetNoResources);
  }
  if (const auto lack = parts_.quotas.lack(lane.address.peer, key.local, Origin::kPeer))
    return refuse(*lack);
  const RulePtr& rule = policy_.match(policy_key(*metadata, *to_host, lane.address.peer));
  ++rule->use.connections;
  if (rule->rule.action == config::Action::kDrop || rule->rule.action == config::Action::kReset) {
    session.streams().reset(stream, stp::ResetReason::kRefused, now);
    parts_.counters.add(Counter::kFlowsRefusedByRule);
    return;
  }
  const std::uint32_t slot = new_flow(key, rule, Origin::kPeer, id, now);
  Flow& f = parts_.flows[slot];
  f.set_metadata(*metadata);
  f.modes = metadata->modes;
  hold_back(f, now);
  f.lan.to_host = *to_host;
  if (!unheard) units_.hosts.write_down(f);
  units_.findings.note_place(f, now);
  f.marks.far = PathMarks::of(metadata->traffic_class, metadata->hop_limit);
  units_.findings.note_marks(f, now);
  f.marks.host.traffic_class = f.marks.told.traffic_class = f.marks.far.traffic_class;
  f.stream = stream;
  f.state.open_stream();
  parts_.streams.adopt(slot, f, stream);
  units_.servers.add(key, slot);
  parts_.counters.add(Counter::kFlowsFromPeer);
  f.endpoint.connect(metadata->options, now,
                     metadata->ecn_offered ? tcp::EcnOffer::kYes : tcp::EcnOffer::kNo);
  if (unheard) units_.hosts.ask(slot, now);
  units_.transfer.advance(slot, now);
}

std::uint32_t FlowOpening::new_flow(const FlowKey& key, const RulePtr& rule, Origin origin,
                                    LaneId lane, Instant now,
                                    std::optional<std::uint32_t> initial_sequence) {
  tcp::Config config = endpoint_config(key, lane, now);
  if (initial_sequence) config.initial_sequence = *initial_sequence;
  if (origin == Origin::kPeer && claims_.is_behind_a_peer(key.local)) {
    const FlowKey back{key.remote, key.local, key.remote_port, key.local_port, {}};
    parts_.records.own_syns.remember(back, config.initial_sequence, now);
  }
  auto made = std::make_unique<Flow>(
      key, rule, origin, config, parts_.arena_of(lane),
      tcp::Endpoint::Shared{&parts_.tcp_counters, of_endpoints_[parts_.peer_of(lane)]}, now);
  Flow& f = *made;
  SATRELAY_CHECK(f.endpoint.memory().own());  // lack_of_room() or has_place() has checked this
  f.lane = lane;
  units_.epochs.begin(f);
  parts_.quotas.begin(f, parts_.peer_of(lane));
  ++parts_.lanes[lane]->flows;
  parts_.lanes[lane]->bell.ring();
  return parts_.flows.add(std::move(made));
}

tcp::Config FlowOpening::endpoint_config(const FlowKey& key, LaneId lane, Instant now) const {
  const Arena& part = parts_.arena_of(lane);
  const std::uint64_t first =
      std::min(parts_.windows.first(part, parts_.quotas.hosts().find(key.local)),
               first_ahead(parts_.lanes[lane]->session.streams().share_of_new()));
  return parts_.host_side.config_for(key, std::max<std::uint64_t>(first, part.reserve_size()), now);
}

void FlowOpening::reconfigure(const config::Gateway& next) {
  parts_.host_side.choose(next);
  share_with_endpoints();
}

void FlowOpening::share_with_endpoints() {
  of_endpoints_.clear();
  for (const auto& peer : parts_.peers) {
    of_endpoints_.push_back(std::make_shared<const tcp::Common>(
        tcp::Common{*parts_.host_side.profile(), parts_.tcp_counters, peer->arena}));
  }
}

}  // namespace satrelay::gateway
