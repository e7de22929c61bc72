#include "relay/gateway/gateway.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "config/modes.h"
#include "relay/gateway/gateway_impl.h"

namespace satrelay::gateway {
namespace {

// RFC 8899 section 5.1.2, BASE_PLPMTU: what any path carries.
constexpr std::uint16_t kBaseMtu = 1200;

// Streams at a time that are no flows but messages (liaison.h).
constexpr std::uint32_t kMessageStreams = 8;

const config::Gateway& checked(const config::Gateway& config) {
  for (const config::Peer& peer : config.peers) {
    if (std::ranges::find(config.links, peer.link, &config::Link::name) == config.links.end()) {
      throw std::invalid_argument("peer " + peer.name + " names the unknown link " + peer.link);
    }
    if (peer.address.version() != config.gateway.own.version()) {
      throw std::invalid_argument("peer " + peer.name + " and the gateway differ in IP version");
    }
  }
  return config;
}

stp::FeedbackMode feedback_mode(config::FeedbackMode mode) {
  switch (mode) {
    case config::FeedbackMode::kHpfp:
      return stp::FeedbackMode::kHpfp;
    case config::FeedbackMode::kMNack:
      return stp::FeedbackMode::kMNack;
    case config::FeedbackMode::kAdaptive:
      break;
  }
  return stp::FeedbackMode::kAdaptive;
}

// IP and UDP headers.
std::uint16_t stp_overhead(const config::Gateway& config) {
  return config.gateway.own.is_v4() ? 28 : 48;
}

// The addresses of both gateways, the lower one first.
std::vector<std::byte> names(const IpAddress& own, const IpAddress& peer) {
  std::vector<std::byte> bytes;
  for (const IpAddress& address : {std::min(own, peer), std::max(own, peer)}) {
    const std::string text = address.to_string() + ' ';
    const ConstBytes raw = std::as_bytes(std::span(text));
    bytes.insert(bytes.end(), raw.begin(), raw.end());
  }
  return bytes;
}

HashKey secret_of(const Identity& identity) { return {identity.secret[0], identity.secret[1]}; }

stp::Config stp_config(const config::Gateway& config, const Identity& identity,
                       std::size_t peer_index, const config::Link& link, const MemoryPlan& plan,
                       stp::HostShares& host_shares, std::uint64_t* all_stored) {
  const config::Peer& peer = config.peers[peer_index];
  stp::Config stp;
  stp.boot_epoch = identity.boot_epoch;
  stp.lane_count = config.stp.lanes;
  stp.opens_even_streams = config.gateway.own < peer.address;
  stp.datagram_overhead = stp_overhead(config);
  stp.datagram_size = static_cast<std::uint16_t>(config.stp.mtu - stp.datagram_overhead);
  stp.datagram_base = static_cast<std::uint16_t>(kBaseMtu - stp.datagram_overhead);
  stp.path_mtu_known = config.stp.path_mtu == config::PathMtu::kKnown;
  stp.max_streams = config.limits.flows + kMessageStreams;
  stp.own_blocks = kOwnBlocks;
  stp.hash_secret = identity.secret[1] ^ (0x9E37'79B9'7F4A'7C15U * (peer_index + 1));
  stp.host_shares = &host_shares;
  stp.all_stored = all_stored;
  stp.lane_receive_limit = plan.lane_receive_limit[peer_index];
  stp.stream_receive_limit = plan.flow_receive_limit[peer_index];
  stp.stream_send_limit = plan.flow_send_limit;
  stp.ping_after = config.stp.ping_after;
  stp.suspect_after = config.stp.suspect_after;
  // docs/stp.md section 7: max(50 kbit/s, 0.05% of the rate that the reports are about).
  stp.feedback_mode = feedback_mode(config.stp.feedback.mode);
  stp.fec = config.stp.fec == config::Fec::kOff ? stp::FecMode::kOff : stp::FecMode::kAuto;
  if (peer.security.keys) {
    stp.security = stp::Security{.psk = peer.security.keys->current,
                                 .other = peer.security.keys->other,
                                 .entropy = identity.entropy,
                                 .names = names(config.gateway.own, peer.address)};
  }
  stp.feedback_budget = config.stp.feedback.budget;
  if (stp.feedback_budget.is_zero()) {
    stp.feedback_budget =
        std::max(BitRate::bits_per_second(50'000), link.receive_rate.scaled(5, 10'000));
  }
  return stp;
}

}  // namespace

Gateway::Impl::Impl(const config::Gateway& gateway_config, const Identity& gateway_identity,
                    MutableBytes arena_memory, MutableBytes journal_memory, Instant now)
    : config(checked(gateway_config)),
      identity(gateway_identity),
      started(now),
      plan(plan_memory(config)),
      arena(arena_memory, plan.block_size),
      reassembly(secret_of(identity),
                 wire::kMaxEthernetHeaderSize + std::max(config.lan.mtu, config.wan.mtu), counters),
      uplink(config, secret_of(identity), released, *this, now),
      policy(config),
      claims(config, policy),
      door(config, secret_of(identity), policy, claims, peers, counters),
      wan(config, identity.wan_mac, counters, now),
      lan(config, policy, secret_of(identity)),
      journal(journal_memory),
      orphans(config.limits.flows, secret_of(identity), journal, lan, claims, counters),
      flows(config, plan, secret_of(identity),
            {.policy = policy,
             .claims = claims,
             .classes = uplink.classes(),
             .lan = lan,
             .arena = arena,
             .peers = peers,
             .records = door.records(),
             .journal = journal,
             .orphans = orphans,
             .counters = counters},
            identity.stopwatch) {
  for (std::size_t i = 0; i < config.peers.size(); ++i) {
    const config::Peer& peer = config.peers[i];
    Carrier& carrier = uplink.carrier(peer.link);
    peers.push_back(std::make_unique<Peer>(peer, carrier,
                                           stp_config(config, identity, i, carrier.config, plan,
                                                      carrier.host_shares, flows.stored_of_peers()),
                                           arena, flows, i, config.limits.flows, now));
    Peer& made = *peers.back();
    uplink.add_session(carrier, made.session, *made.controller, made.datagram_overhead);
  }
  // The sessions have the secrets, which a reload may exchange.
  for (config::Peer& peer : config.peers) peer.security.forget_keys();
  policy.set_classes(uplink.classes());
  flows.offer_dictionaries(config.classes, now);
  config.classes.clear();  // `uplink` has them, with what else a reload may exchange
  orphans.recover(now);
}

// --- sessions ----------------------------------------------------------------------------------

Gateway::Impl::Written Gateway::Impl::write_packet(std::size_t peer, const stp::Turn& turn,
                                                   MutableBytes out, Instant now) {
  stp::Session& session = peers[peer]->session;
  const std::size_t header = wan.stp_header_size();
  const std::size_t size = session.poll_packet(out.subspan(header), now, turn);
  take_events(peer, now);
  if (size == 0) return {};
  wan.write_stp_headers(peer, size, session.last_priority(), out);
  return {.frame = header + size, .datagram = size};
}

Polled Gateway::Impl::poll_wan(MutableBytes out, Instant now) {
  if (const std::size_t size = released.poll_frame(out); size > 0) {
    return {.kind = Polled::Kind::kWritten, .size = size};
  }
  if (const std::size_t size = wan.poll_frame(out); size > 0) {
    return {.kind = Polled::Kind::kWritten, .size = size};
  }
  if (const std::size_t size = door.poll_reset(PortId::kWan, out); size > 0) {
    uplink.pass(TrafficClasses::kBridged, size - wire::kEthernetHeaderSize, now);
    return {.kind = Polled::Kind::kWritten, .size = size};
  }
  return uplink.poll(out, now);
}

// --- the public face ---------------------------------------------------------------------------

Gateway::Gateway(const config::Gateway& config, const Identity& identity, MutableBytes arena_memory,
                 Instant now, MutableBytes journal)
    : impl_(std::make_unique<Impl>(config, identity, arena_memory, journal, now)) {}

Gateway::~Gateway() = default;

Verdict Gateway::handle_frame(PortId port, ConstBytes frame, Instant now) {
  audit_at_intervals();
  impl_->last_call = now;
  const Frame seen = look_at(frame);
  if (port == PortId::kLan) {
    impl_->counters.add(Counter::kLanFramesIn);
    return impl_->handle_lan(seen, frame, now);
  }
  impl_->counters.add(Counter::kWanFramesIn);
  return impl_->handle_wan(seen, frame, now);
}

void Gateway::handle_timeout(Instant now) {
  audit_at_intervals();
  impl_->last_call = now;
  impl_->reassembly.handle_timeout(now);
  impl_->wan.handle_timeout(now);
  impl_->lan.handle_timeout(now);
  for (std::size_t i = 0; i < impl_->peers.size(); ++i) {
    Peer& peer = *impl_->peers[i];
    if (peer.session.next_timeout() <= now) peer.session.handle_timeout(now);
    impl_->take_events(i, now);
    peer.liaison.handle_timeout(impl_->orphans, now);
    if (now >= peer.suspect_since + impl_->config.stp.give_up_after) {
      peer.suspect_since = Instant::never();
      impl_->flows.upset(i, Upheavals::Kind::kLost);
    }
  }
  impl_->flows.handle_timeout(now);
  impl_->orphans.handle_timeout(now);
  impl_->flows.go_on(now);
}

Polled Gateway::poll_frame(PortId port, MutableBytes out, Instant now) {
  impl_->last_call = now;
  if (port == PortId::kLan) {
    std::size_t size = impl_->flows.poll_frame(out, now);
    if (size == 0) size = impl_->orphans.poll_frame(out, now);
    // A flood of SYNs takes what flows leave.
    if (size == 0) size = impl_->door.poll_cookie(out);
    if (size == 0) size = impl_->lan.poll_frame(out);
    if (size == 0) size = impl_->door.poll_reset(PortId::kLan, out);
    if (size == 0) return {};
    impl_->counters.add(Counter::kLanFramesOut);
    return {.kind = Polled::Kind::kWritten, .size = size};
  }
  const Polled polled = impl_->poll_wan(out, now);
  if (polled.kind != Polled::Kind::kNothing) impl_->counters.add(Counter::kWanFramesOut);
  return polled;
}

Instant Gateway::next_timeout() const {
  Instant next = earlier(impl_->wan.next_timeout(), impl_->flows.next_timeout());
  next = earlier(next, earlier(impl_->orphans.next_timeout(), impl_->door.next_timeout()));
  next = earlier(next, impl_->lan.next_timeout());
  next = earlier(next, impl_->reassembly.next_timeout());
  next = earlier(next, impl_->released.next_timeout());
  for (std::size_t i = 0; i < impl_->peers.size(); ++i) {
    const Peer& peer = *impl_->peers[i];
    if (peer.session.work_waits() || peer.session.has_events()) return impl_->last_call;
    if (impl_->is_reachable(i)) next = earlier(next, peer.session.next_timeout());
    next = earlier(next, peer.suspect_since + impl_->config.stp.give_up_after);
    next = earlier(next, peer.liaison.next_timeout());
  }
  return earlier(next, impl_->uplink.next_turn(impl_->last_call));
}

std::size_t Gateway::held_frames() const {
  return impl_->uplink.held().frames() - impl_->released.held();
}

std::size_t Gateway::held_slot() const { return impl_->uplink.held_slot(); }

std::size_t Gateway::max_frame_size() const {
  return wire::kMaxEthernetHeaderSize + std::max(impl_->config.lan.mtu, impl_->config.wan.mtu);
}

void Gateway::shut_down(Instant now) {
  for (const auto& peer : impl_->peers) peer->session.close(now);
  impl_->flows.shut_down(now);
}

std::shared_ptr<const RuleIndex> Gateway::index_rules(const config::Gateway& next) {
  return Policy::index(next);
}

void Gateway::reconfigure(const config::Gateway& next, Instant now,
                          std::shared_ptr<const RuleIndex> index) {
  Impl& impl = *impl_;
  impl.config.stp.give_up_after = next.stp.give_up_after;
  impl.policy.replace_rules(next.rules, index ? std::move(index) : Policy::index(next));
  impl.uplink.reconfigure(next, now);
  impl.policy.set_classes(impl.uplink.classes());
  for (std::size_t i = 0; i < next.peers.size(); ++i) {
    const std::optional<config::PresharedKeys>& keys = next.peers[i].security.keys;
    if (keys) impl.peers[i]->session.set_secrets(keys->current, keys->other);
  }
  impl.door.set_half_open(next.limits.half_open);
  impl.flows.reconfigure(next, now);
}

void Gateway::set_admission(Admission admission, Instant now) {
  impl_->door.set_admission(admission);
  for (const auto& peer : impl_->peers) peer->liaison.announce(admission, now);
}

std::size_t Gateway::unfinished_flows() const { return impl_->flows.flows().unfinished(); }

Gateway::CapacityResult Gateway::set_capacity(std::string_view link, LinkWay way, BitRate capacity,
                                              Instant now) {
  return impl_->uplink.set_capacity(link, way, capacity, now);
}

Gateway::ClassResult Gateway::set_class(std::string_view name, const ClassChange& change,
                                        Instant now) {
  return impl_->uplink.set_class(name, change, now);
}

void PlainPackets::see(Way way, ConstBytes header, ConstBytes rest) {
  const std::size_t before = wan_.stp_header_size();
  frame_.resize(before + header.size() + rest.size());
  std::ranges::copy(header, frame_.begin() + static_cast<std::ptrdiff_t>(before));
  std::ranges::copy(rest, frame_.end() - static_cast<std::ptrdiff_t>(rest.size()));
  const LinkWay link_way = way == Way::kSent ? LinkWay::kSend : LinkWay::kReceive;
  wan_.write_stp_headers(peer_, header.size() + rest.size(), control::Priority{}, frame_, link_way);
  observer_.see_plain(link_way, frame_);
}

void Gateway::observe_plain(PlainObserver* observer) {
  for (const auto& peer : impl_->peers) peer->session.set_observer(nullptr);
  impl_->plain_packets.clear();
  if (observer == nullptr) return;
  for (std::size_t i = 0; i < impl_->peers.size(); ++i) {
    impl_->plain_packets.push_back(std::make_unique<PlainPackets>(impl_->wan, i, *observer));
    impl_->peers[i]->session.set_observer(impl_->plain_packets.back().get());
  }
}

bool Gateway::set_peer_rate(std::string_view peer, BitRate most, Instant now) {
  const auto found = std::ranges::find_if(
      impl_->peers, [&](const auto& candidate) { return candidate->config.name == peer; });
  if (found == impl_->peers.end()) return false;
  impl_->uplink.set_most_rate(static_cast<std::size_t>(found - impl_->peers.begin()), most, now);
  return true;
}

const Counters& Gateway::counters() const { return impl_->counters; }

std::uint64_t Gateway::visited() const {
  std::uint64_t visited = impl_->flows.visited() + impl_->reassembly.visited();
  for (const auto& peer : impl_->peers) visited += peer->session.visited();
  return visited;
}

Status Gateway::status(Instant now) const {
  Status status;
  status.uptime = now - impl_->started;
  status.admission = impl_->door.admission();
  status.boot_epoch = impl_->identity.boot_epoch;
  status.flows = static_cast<std::uint32_t>(impl_->flows.flows().size());
  status.half_open = impl_->flows.flows().half_open();
  status.arena_bytes = impl_->arena.total_blocks() * impl_->arena.block_size();
  status.arena_used = impl_->arena.used_blocks() * impl_->arena.block_size();
  status.codec = impl_->flows.codec_counters();
  status.tcp = impl_->flows.tcp_counters();
  return status;
}

std::vector<PeerSnapshot> Gateway::peers() const {
  const auto path_mtu = [&](const stp::Session& session) -> std::optional<std::uint16_t> {
    const stp::PeerState state = session.peer_state();
    if (state != stp::PeerState::kAlive && state != stp::PeerState::kSuspect) return std::nullopt;
    return static_cast<std::uint16_t>(session.datagram_limit() + stp_overhead(impl_->config));
  };
  std::vector<PeerSnapshot> list;
  for (std::size_t i = 0; i < impl_->peers.size(); ++i) {
    const Peer& peer = *impl_->peers[i];
    const stp::Session& session = peer.session;
    list.push_back(
        {.name = peer.config.name,
         .address = peer.config.address,
         .resolved = impl_->is_reachable(i),
         .state = session.peer_state(),
         .is_given_up =
             session.peer_state() == stp::PeerState::kSuspect && peer.suspect_since.is_never(),
         .wrong_key = session.doubts_key(impl_->last_call),
         .admission = peer.liaison.peer_admission(),
         .link = peer.config.link,
         .encrypts = peer.config.security.keys.has_value(),
         .send_rate = session.send_rate(),
         .link_rate = peer.carrier.config.send_rate,
         .commanded = impl_->uplink.commanded(i),
         .controller = config::to_string(peer.carrier.config.control.controller),
         .announced = session.peer_capacity(),
         .path_mtu = path_mtu(session),
         .rtt = session.measured_rtt(),
         .loss_ratio = session.knows_loss() ? std::optional(session.loss_ratio()) : std::nullopt,
         .streams = static_cast<std::uint32_t>(session.stream_count()),
         .packets_in_flight = session.packets_in_flight(),
         .bytes_stored = session.bytes_stored(),
         .dictionaries = peer.dictionaries.classes(),
         .counters = session.counters()});
  }
  return list;
}

std::vector<RuleSnapshot> Gateway::rules(std::size_t first, std::size_t count) const {
  const std::vector<RulePtr>& rules = impl_->policy.rules();
  std::vector<RuleSnapshot> list;
  for (std::size_t i = first; i <= rules.size() && list.size() < count; ++i) {
    const ActiveRule& active = i < rules.size() ? *rules[i] : *impl_->policy.none();
    list.push_back({.number = active.number,
                    .name = active.rule.name,
                    .action = active.rule.action,
                    .compress = active.rule.compress,
                    .modes = active.rule.modes,
                    .is_changed = active.rule != active.configured,
                    .use = active.use});
  }
  return list;
}

Gateway::SetResult Gateway::set_rule(std::string_view rule, const RuleChange& change) {
  ActiveRule* active = impl_->policy.find(rule);
  if (active == nullptr) return SetResult::kUnknownRule;
  if (active->rule.action != config::Action::kAccelerate) return SetResult::kNotAccelerated;
  config::Rule next = active->rule;
  change.apply(next);
  if (config::contradiction_in(next.modes) != nullptr) return SetResult::kContradiction;
  active->rule = std::move(next);
  return SetResult::kSet;
}

Explanation Gateway::explain(const PolicyKey& asked, Instant now) const {
  const Policy& policy = impl_->policy;
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
        {each->number, each->rule.name, first_miss(each->rule, key, impl_->config.peers)});
  }
  if (key.peer) {
    explanation.peer = impl_->config.peers[*key.peer].name;
    explanation.prefix = policy.prefix_for(far);
  }
  if (outbound && key.protocol == wire::kProtocolTcp &&
      (rule.rule.action == config::Action::kAccelerate ||
       rule.rule.action == config::Action::kBridge)) {
    FlowKey hosts;
    hosts.local = key.source;
    hosts.remote = key.destination;
    explanation.bridged_as = impl_->door.objection(hosts, rule.rule, key.peer, now);
  }
  return explanation;
}

std::vector<ClassSnapshot> Gateway::classes() const {
  const Uplink& uplink = impl_->uplink;
  std::vector<ClassSnapshot> list;
  for (const stp::ClassId id : uplink.classes().order()) {
    const TrafficClassState& c = uplink.classes()[id];
    list.push_back({.in_force = c.in_force,
                    .is_changed = c.in_force != c.configured,
                    .held_frames = uplink.held().frames(id),
                    .held_bytes = uplink.held().bytes(id),
                    .hosts = static_cast<std::uint32_t>(uplink.waiting_hosts(id)),
                    .use = c.use});
  }
  return list;
}

std::vector<FlowSnapshot> Gateway::flows(std::size_t first, std::size_t count, Instant now) const {
  return impl_->flows.snapshot(first, count, now);
}

std::optional<FlowSnapshot> Gateway::flow(std::uint64_t id, Instant now) const {
  return impl_->flows.snapshot(id, now);
}

std::size_t Gateway::flow_count() const { return impl_->flows.flows().size(); }

}  // namespace satrelay::gateway
