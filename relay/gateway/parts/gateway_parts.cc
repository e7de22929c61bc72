#include "relay/gateway/parts/gateway_parts.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <stdexcept>

#include "pep/stp/connection/turns.h"
#include "relay/gateway/flows/table/memory_plan.h"
#include "relay/gateway/steering/lane_ports.h"

namespace satrelay::gateway {
namespace {

// Sizes of IP packets for the search of the path MTU (RFC 8899). Nearly any path carries kBaseMtu.
// Every IPv4 host accepts kLeastMtuV4 (RFC 791), and every IPv6 link carries kLeastMtuV6 (RFC
// 8200). The floor of the search is never above kBaseMtu.
constexpr std::uint16_t kBaseMtu = 1200;
constexpr std::uint16_t kLeastMtuV4 = 576, kLeastMtuV6 = 1280;

// Maximum number of streams that carry messages instead of flows at the same time
// (control_messages.h): messages to the peer, and lists from the peer.
constexpr std::uint32_t kMessageStreams = Messages::kMost + 4;

// If one of two gateways has more workers than the other, its number of workers is the number of
// lanes between them. So there are at most config::kMostWorkers lanes to a peer. These types and
// tables must be large enough for that number:
static_assert(config::kMostWorkers <= stp::Turns::kLanes);
static_assert(config::kMostWorkers <= std::numeric_limits<decltype(LaneAddress::number)>::max());
static_assert(2 * config::kMostWorkers <= kLanePortBlock, "two source ports for each lane");

std::optional<LinkId> find_link(const config::Gateway& config, std::string_view name) {
  const auto found = std::ranges::find(config.links, name, &config::Link::name);
  if (found == config.links.end()) return std::nullopt;
  return LinkId(static_cast<std::size_t>(found - config.links.begin()));
}

void check(const config::Gateway& config, Share share) {
  const auto is_count = [](unsigned count) {
    return std::has_single_bit(count) && count <= config::kMostWorkers;
  };
  if (!is_count(share.workers) || share.worker >= share.workers ||
      share.workers != config.worker.count) {
    throw std::invalid_argument("a worker is none of those that are configured");
  }
  for (const config::Peer& peer : config.peers) {
    if (peer.links.size() != 1) {
      throw std::invalid_argument("peer " + peer.name + " does not have exactly one link");
    }
    if (!find_link(config, peer.links.front())) {
      throw std::invalid_argument("peer " + peer.name + " names the unknown link " +
                                  peer.links.front());
    }
    if (peer.address.version() != config.gateway.own.version()) {
      throw std::invalid_argument("peer " + peer.name + " and the gateway differ in IP version");
    }
    if (!is_count(lanes_to(peer, share.workers))) {
      throw std::invalid_argument("peer " + peer.name + " has an impossible number of workers");
    }
  }
}

const config::Gateway& checked(const config::Gateway& config, Share share) {
  check(config, share);
  return config;
}

// The configuration with the limits of one worker.
config::Gateway worker_config(config::Gateway config, Share share) {
  divide(config.limits, share.workers);
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

// Size of the IP and UDP headers.
std::uint16_t stp_overhead(const config::Gateway& config) {
  return config.gateway.own.is_v4() ? 28 : 48;
}

// The addresses of both gateways, the lower address first.
std::vector<std::byte> names(const IpAddress& own, const IpAddress& peer) {
  std::vector<std::byte> bytes;
  for (const IpAddress& address : {std::min(own, peer), std::max(own, peer)}) {
    const std::string text = address.to_string() + ' ';
    const ConstBytes raw = std::as_bytes(std::span(text));
    bytes.insert(bytes.end(), raw.begin(), raw.end());
  }
  return bytes;
}

// Messages and frames that this gateway understands.
constexpr std::uint32_t kRelayCapabilities =
    stp::kCapabilityLanReports | stp::kCapabilityEvidence | stp::kCapabilityOtherVlan |
    stp::kCapabilityUrgent | stp::kCapabilityDestinations | stp::kCapabilityAcceptedSources |
    stp::kCapabilityResetMarks | stp::kCapabilityHostWords | stp::kCapabilityIcmp |
    stp::kCapabilityArrivals | stp::kCapabilityBetween;

HashKey secret_of(const Identity& identity) { return {identity.secret[0], identity.secret[1]}; }

stp::Config stp_config(const config::Gateway& config, const Identity& identity, LaneId id,
                       const LaneAddress& lane, const MemoryPlan& plan, Carrier& carrier,
                       SessionBudgets& shared) {
  const config::Peer& peer = config.peers[lane.peer.index()];
  stp::Config stp;
  stp.boot_epoch = identity.boot_epoch;
  stp.lane = lane.number;
  stp.lane_count = lane.count;
  stp.opens_even_streams = config.gateway.own < peer.address;
  stp.datagram.overhead = stp_overhead(config);
  stp.datagram.size = static_cast<std::uint16_t>(config.stp.mtu - stp.datagram.overhead);
  stp.datagram.base = static_cast<std::uint16_t>(kBaseMtu - stp.datagram.overhead);
  stp.datagram.floor = static_cast<std::uint16_t>(
      std::min(kBaseMtu, config.gateway.own.is_v4() ? kLeastMtuV4 : kLeastMtuV6) -
      stp.datagram.overhead);
  stp.datagram.path_mtu_known = config.stp.path_mtu == config::PathMtu::kKnown;
  stp.streams.max_streams = config.limits.flows + kMessageStreams;
  stp.streams.reserves = true;
  stp.relay_capabilities = kRelayCapabilities;
  stp.streams.hash_secret = identity.secret[1] ^ (0x9E37'79B9'7F4A'7C15U * (id.index() + 1));
  stp.streams.host_shares = &carrier.host_shares;
  stp.feedback.shared = &carrier.report_budget;
  stp.hello.budgets = {.hellos = &carrier.own.hellos(),
                       .answers = &carrier.own.hello_answers(),
                       .closes = &carrier.own.closes()};
  stp.hello.shared = &shared.hellos;
  stp.repair.shared = &shared.repairs;
  stp.hello.peer = lane.peer.number();
  stp.streams.lane_receive_limit = plan.lane_receive_limit[id];
  stp.streams.receive_limit = plan.flow_receive_limit[id];
  stp.streams.send_limit = plan.flow_send_limit;
  stp.probes.ping_after = config.stp.ping_after;
  stp.probes.suspect_after = config.stp.suspect_after;
  // docs/stp.md section 7: the feedback budget of one peer is max(50 kbit/s, 0.05% of the link's
  // receive rate), since feedback reports on the packets that the link has received. A second
  // budget is shared by all peers.
  stp.feedback.mode = feedback_mode(config.stp.feedback.mode);
  stp.repair.mode = config.stp.fec == config::Fec::kOff ? stp::FecMode::kOff : stp::FecMode::kAuto;
  stp.repair.prompt_share = config.stp.prompt_overhead;
  if (peer.security.keys) {
    stp.security = stp::Security{.psk = peer.security.keys->current,
                                 .other = peer.security.keys->other,
                                 .entropy = identity.entropy,
                                 .names = names(config.gateway.own, peer.address)};
  }
  stp.feedback.budget = config.stp.feedback.budget;
  if (stp.feedback.budget.is_zero()) {
    stp.feedback.budget =
        std::max(BitRate::bits_per_second(50'000), carrier.config.receive_rate.scaled(5, 10'000));
  }
  return stp;
}

// Each peer gets memory for the credit that it has been granted. Half of the remaining memory is
// divided among the peers in equal parts. FlowQuotas divides half of all flows in the same way, so
// each peer has memory for its reserved flows.
FarGateways far_gateways(const config::Gateway& config, Arena& arena, const MemoryPlan& plan,
                         const LaneAddresses& lanes) {
  const std::vector<config::Peer>& peers = config.peers;
  IdVector<FarGatewayId, Arena::Kept> kept(peers.size());
  for (const LaneId id : lanes.ids()) {
    kept[lanes[id].peer].promised += plan.lane_receive_limit[id];
  }
  std::uint64_t beside = arena.total_blocks() * arena.block_size();
  for (const Arena::Kept& each : kept) beside -= std::min(beside, each.promised);
  FarGateways made;
  for (const FarGatewayId id : kept.ids()) {
    Arena::Kept& its = kept[id];
    its.beside = beside / 2 / peers.size();
    its.reserves =
        std::max<std::uint64_t>(arena.most_reserves() / 2 / peers.size(), kStoresOfAFlow);
    const config::Peer& peer = peers[id.index()];
    std::vector<LinkId> links;
    for (const std::string& link : peer.links) links.push_back(find_link(config, link).value());
    made.push_back(std::make_unique<FarGateway>(peer, std::move(links), lanes.of(id), arena, its));
  }
  return made;
}

}  // namespace

GatewayParts::GatewayParts(const config::Gateway& gateway_config, const Identity& gateway_identity,
                           MutableBytes arena_memory, MutableBytes journal_memory,
                           SessionPort& port, Instant now)
    : GatewayParts(
          gateway_config, gateway_identity,
          plan_memory(checked(gateway_config, gateway_identity.share), gateway_identity.share),
          arena_memory, journal_memory, port, now) {}

GatewayParts::GatewayParts(const config::Gateway& gateway_config, const Identity& gateway_identity,
                           const MemoryPlan& plan, MutableBytes arena_memory,
                           MutableBytes journal_memory, SessionPort& port, Instant now)
    : config(worker_config(gateway_config, gateway_identity.share)),
      identity(gateway_identity),
      directory(config, identity.share, secret_of(identity)),
      arena(arena_memory, plan.block_size, plan.reserve_size),
      peers(far_gateways(config, arena, plan, directory.lanes())),
      fragments(secret_of(identity), config, counters),
      uplink(config, directory.lanes().size(), secret_of(identity), fragments.released, port, now),
      policy(config),
      claims(config, policy),
      common(identity.common
                 ? identity.common
                 : std::make_shared<CommonKnowledge>(secret_of(identity), config.peers.size())),
      door(config, secret_of(identity), policy, claims, lanes, common->symmetric_paths,
           common->between, counters),
      wan(config, identity.share, identity.wan_mac, uplink, counters, now),
      lan(config, policy, secret_of(identity), identity.wan_mac, common->awaited, counters),
      journal(journal_memory),
      orphans(config.limits.flows, config.peers.size(), secret_of(identity), journal, lan, claims,
              counters),
      flows(config, plan, secret_of(identity),
            {.policy = policy,
             .claims = claims,
             .classes = uplink.classes(),
             .lan = lan,
             .wan_mac = identity.wan_mac,
             .common = *common,
             .peers = peers,
             .budget = budget,
             .lanes = lanes,
             .records = door.records(),
             .journal = journal,
             .orphans = orphans,
             .counters = counters},
            identity.stopwatch,
            identity.lan_port_sums ? TcpFrames::Sums::kLeft : TcpFrames::Sums::kWritten),
      shared(config.peers.size(), directory.lanes().size(), budget) {
  for (const LaneId id : directory.lanes().ids()) {
    const LaneAddress& address = directory.lanes()[id];
    FarGateway& peer = *peers[address.peer];
    Carrier& carrier = uplink.carrier(peer.links.front());
    lanes.push_back(std::make_unique<Lane>(
        peer, carrier, stp_config(config, identity, id, address, plan, carrier, shared), flows,
        flows, id, address, config.limits.flows, now));
    Lane& made = *lanes.back();
    uplink.add_lane(peer.links, made.session, made.datagram_overhead, address.count);
    made.bell = uplink.ready_set().bell(id);
  }
  // Remove the keys here: the sessions have them, and a reload may replace them there.
  for (config::Peer& peer : config.peers) peer.security.forget_keys();
  policy.set_classes(uplink.classes());
  flows.offer_dictionaries(now);
  config.classes.clear();  // `uplink` has the classes, and a reload may replace them there
  orphans.recover(now);
}

}  // namespace satrelay::gateway
