// Makes the gateway's reports about itself.
#include <algorithm>

#include "relay/gateway/gateway_impl.h"

namespace satrelay::gateway {

namespace {

std::optional<std::uint64_t> fingerprint_of(const compress::DictionaryLevels* levels) {
  if (levels == nullptr) return std::nullopt;
  return levels->dictionary()->fingerprint();
}

}  // namespace

Status Gateway::status(Instant now) const {
  Impl& impl = engine_.settled();
  Status status;
  status.uptime = now - impl.started;
  status.admission = impl.parts.door.admission();
  status.boot_epoch = impl.parts.identity.boot_epoch;
  status.flows = static_cast<std::uint32_t>(impl.parts.flows.flows().size());
  status.half_open = impl.parts.flows.flows().half_open();
  status.time_wait = static_cast<std::uint32_t>(impl.parts.flows.time_waits().size());
  status.arena_bytes = impl.parts.arena.total_blocks() * impl.parts.arena.block_size();
  status.arena_used = impl.parts.arena.used_blocks() * impl.parts.arena.block_size();
  status.codec = impl.parts.flows.streams().counters();
  status.tcp = impl.parts.flows.tcp_counters();
  return status;
}

std::vector<PeerSnapshot> Gateway::peers(std::size_t first, std::size_t count) const {
  Impl& impl = engine_.settled();
  const auto path_mtu = [](const Lane& lane) -> std::optional<std::uint16_t> {
    const stp::Session& session = lane.session;
    const stp::PeerState state = session.peer_state();
    if (state != stp::PeerState::kAlive && state != stp::PeerState::kSuspect) return std::nullopt;
    return static_cast<std::uint16_t>(session.path().datagram_limit() + lane.datagram_overhead);
  };
  const std::size_t begin = std::min(first, impl.parts.lanes.size());
  const std::size_t end = begin + std::min(count, impl.parts.lanes.size() - begin);
  std::vector<PeerSnapshot> list;
  list.reserve(end - begin);
  for (const LaneId id : id_range(LaneId(begin), LaneId(end))) {
    const Lane& lane = *impl.parts.lanes[id];
    const stp::Session& session = lane.session;
    list.push_back(
        {.name = lane.peer.config.name,
         .lane = lane.address.number,
         .address = lane.peer.config.address,
         .resolved = impl.parts.is_reachable(id),
         .state = session.peer_state(),
         .is_given_up = session.peer_state() == stp::PeerState::kSuspect &&
                        impl.last_call >= lane.suspect_since + impl.parts.config.stp.give_up_after,
         .wrong_key = session.doubts_key(impl.last_call),
         .admission = lane.control_messages.peer_admission(),
         .link = lane.carrier.config.name,
         .encrypts = lane.peer.config.security.keys.has_value(),
         .send_rate = session.path().send_rate(),
         .link_rate = lane.carrier.config.finds_capacity() ? session.path().found_capacity()
                                                           : lane.carrier.config.send_rate,
         .finds_capacity = lane.carrier.config.finds_capacity(),
         .commanded = impl.parts.uplink.rates().commanded(id),
         .controller = config::to_string(lane.carrier.config.control.controller),
         .announced = session.peer_capacity(),
         .last_cut = session.path().last_rate_cut(),
         .path_mtu = path_mtu(lane),
         .rtt = session.path().measured_rtt(),
         .loss_ratio = session.path().knows_loss() ? std::optional(session.path().loss_ratio())
                                                   : std::nullopt,
         .streams = static_cast<std::uint32_t>(session.streams().count()),
         .packets_in_flight = session.path().packets_in_flight(),
         .bytes_stored = session.streams().bytes_stored(),
         .flows = lane.flows,
         .flows_refused = lane.flows_refused,
         .arena_used = id == *lane.peer.lanes.begin() ? lane.peer.arena.held() : 0,
         .dictionaries = lane.dictionaries.classes(),
         .are_sources_known = lane.control_messages.sources().are_known(),
         .counters = session.counters()});
  }
  return list;
}

std::vector<LinkSnapshot> Gateway::links() const {
  Impl& impl = engine_.settled();
  std::vector<LinkSnapshot> list;
  for (const auto& carrier : impl.parts.uplink.carriers()) {
    list.push_back({.name = carrier->config.name,
                    .finds_capacity = carrier->config.finds_capacity(),
                    .send = {.configured = carrier->config.send_rate,
                             .commanded = carrier->commanded(LinkWay::kSend),
                             .capacity = carrier->in_force()},
                    .receive = {.configured = carrier->config.receive_rate,
                                .commanded = carrier->commanded(LinkWay::kReceive),
                                .capacity = carrier->receive_capacity},
                    .sent_bytes = carrier->sent});
  }
  for (const auto& peer : impl.parts.peers) {
    for (const LinkId link : peer->links) ++list[link.index()].peers;
  }
  return list;
}

std::vector<RuleSnapshot> Gateway::rules(std::size_t first, std::size_t count) const {
  Impl& impl = engine_.settled();
  const std::vector<RulePtr>& rules = impl.parts.policy.rules();
  std::vector<RuleSnapshot> list;
  for (std::size_t i = first; i <= rules.size() && list.size() < count; ++i) {
    const ActiveRule& active = i < rules.size() ? *rules[i] : *impl.parts.policy.none();
    list.push_back({.number = active.number,
                    .name = active.rule.name,
                    .action = active.rule.action,
                    .compress = active.rule.compress,
                    .modes = active.rule.modes,
                    .ttl = active.rule.ttl,
                    .mptcp = active.rule.mptcp,
                    .is_changed = active.rule != active.configured,
                    .use = active.use});
  }
  return list;
}

Explanation Gateway::explain(const PolicyKey& asked, Instant now) const {
  Impl& impl = engine_.settled();
  const Policy& policy = impl.parts.policy;
  PolicyKey key = asked;
  const bool outbound = key.direction == config::Direction::kOutbound;
  const IpAddress& far = outbound ? key.destination : key.source;
  key.peer = policy.peer_for(far);
  const ActiveRule& rule = *policy.match(key);
  Explanation explanation;
  explanation.rule = rule.number;
  explanation.in_force = rule.rule;
  for (const RulePtr& each : policy.rules()) {
    if (each->number == rule.number) break;
    if (explanation.misses.size() == Explanation::kMostMisses) {
      ++explanation.more_misses;
      continue;
    }
    explanation.misses.push_back(
        {each->number, each->rule.name, first_miss(each->rule, key, impl.parts.config.peers)});
  }
  if (key.peer) {
    explanation.peer = impl.parts.peers[*key.peer]->config.name;
    explanation.prefix = policy.prefix_for(far);
  }
  const bool is_tcp = key.protocol == wire::kProtocolTcp;
  const Bridging::Prospect bridged =
      impl.bridging.prospect(rule, is_tcp, outbound ? PortId::kLan : PortId::kWan);
  if (outbound && is_tcp &&
      (rule.rule.action == config::Action::kAccelerate ||
       rule.rule.action == config::Action::kBridge)) {
    FlowKey hosts;
    hosts.local = key.source;
    hosts.remote = key.destination;
    hosts.vlans[0] = key.vlan;
    std::optional<LaneId> lane;
    if (key.peer) lane = impl.parts.directory.lanes().first_of(*key.peer);
    explanation.bridged_as = impl.parts.door.objection(hosts, rule.rule, lane, now);
    if (!explanation.bridged_as) {
      hosts.remote_port = key.port;
      explanation.handshake = impl.parts.flows.room().handshake(rule.rule, hosts, *lane, now);
    }
  } else if (bridged.outcome == Outcome::kBridged &&
             (!is_tcp || rule.rule.action == config::Action::kBridge)) {
    explanation.bridged_as = bridged.reason;
  }
  explanation.is_for_tcp_only = !is_tcp && (rule.rule.action == config::Action::kAccelerate ||
                                            rule.rule.action == config::Action::kReset);
  if (bridged.outcome != Outcome::kBridged) {
    explanation.outcome = bridged.outcome;
  } else if (explanation.bridged_as) {
    explanation.outcome = Outcome::kBridged;
    explanation.bridged_turn = bridged.turn;
  }
  return explanation;
}

std::vector<ClassSnapshot> Gateway::classes() const {
  Impl& impl = engine_.settled();
  const Uplink& uplink = impl.parts.uplink;
  std::vector<ClassSnapshot> list;
  for (const schedule::ClassId id : uplink.classes().order()) {
    const TrafficClassState& c = uplink.classes()[id];
    list.push_back({.in_force = c.in_force,
                    .is_changed = c.in_force != c.configured,
                    .dictionary = fingerprint_of(c.dictionary.get()),
                    .held_frames = uplink.turns().held_frames(id),
                    .held_bytes = uplink.turns().held_bytes(id),
                    .waiting_bytes = impl.parts.flows.streams().waiting(id),
                    .hosts = static_cast<std::uint32_t>(uplink.turns().waiting_hosts(id)),
                    .use = c.use});
  }
  return list;
}

std::vector<HistogramSnapshot> Gateway::histograms() const {
  Impl& impl = engine_.settled();
  std::vector<HistogramSnapshot> list;
  list.push_back({.field = &compress::kBlockCompression,
                  .of = {},
                  .values = impl.parts.flows.streams().block_times()});
  for (std::size_t i = 0; i < Completions::kSizes.size(); ++i) {
    list.push_back({.field = &kFlowCompletion,
                    .of = Completions::kSizes[i].name,
                    .values = impl.parts.flows.completions().by_size()[i]});
  }
  const TrafficClasses& classes = impl.parts.uplink.classes();
  for (const schedule::ClassId id : classes.order()) {
    const TrafficClassState& c = classes[id];
    const std::string& name = c.in_force.name;
    if (id != TrafficClasses::kBridged) {
      list.push_back({.field = &kRelayedWait, .of = name, .values = c.relayed_waits});
    }
    if (id == TrafficClasses::kRelayed) continue;
    // `bridged_waits` has only the frames that had to wait. The frames that were sent at once are
    // added with a wait of 0.
    Histogram waits = c.bridged_waits;
    waits.add(0, c.use.bridged_frames - waits.count());
    list.push_back({.field = &kBridgedWait, .of = name, .values = waits});
  }
  return list;
}

static_assert(BridgedConnections::kKept == Gateway::kMostBridged);

std::vector<BridgedSnapshot> Gateway::bridged(Instant now) const {
  std::vector<BridgedSnapshot> list;
  for (const BridgedConnections::Entry& each : engine_.settled().lan_input.bridged().latest()) {
    list.push_back({.client = each.key.local,
                    .client_port = each.key.local_port,
                    .server = each.key.remote,
                    .server_port = each.key.remote_port,
                    .reason = each.reason,
                    .rule = each.rule->number,
                    .rule_name = each.rule->rule.name,
                    .age = now - each.at,
                    .syns = each.syns});
  }
  return list;
}

std::vector<FlowSnapshot> Gateway::flows(std::size_t first, std::size_t count, Instant now) const {
  return engine_.settled().parts.flows.snapshot(first, count, now);
}

std::optional<FlowSnapshot> Gateway::flow(std::uint64_t id, Instant now) const {
  return engine_.settled().parts.flows.snapshot(id, now);
}

std::size_t Gateway::flow_count() const { return engine_.settled().parts.flows.flows().size(); }

}  // namespace satrelay::gateway
