#include "relay/sim/network/network.h"

#include <algorithm>

#include "pep/wire/ethernet.h"
#include "pep/wire/ip.h"
#include "pep/wire/tcp.h"
#include "relay/sim/network/network_addresses.h"

namespace satrelay::sim {
namespace {

using gateway::Counter;
using gateway::PortId;

constexpr std::uint64_t kFirstEpoch = 1'700'000'000'000'000'000U;

}  // namespace

config::Gateway Network::gateway_config(Side side) const {
  const auto own = static_cast<std::size_t>(side);
  const std::size_t far = 1 - own;
  const config::LinkDirection& out = own == 0 ? scenario_.a_to_b : scenario_.b_to_a;
  const config::LinkDirection& in = own == 0 ? scenario_.b_to_a : scenario_.a_to_b;
  config::Gateway config;
  config.lan.interface = "lan";
  config.wan.interface = "wan";
  config.lan.mtu = scenario_.lan_mtu;
  config.wan.mtu = scenario_.wan_mtu;
  config.gateway.own = *IpAddress::parse(kGatewayAddress[own]);
  config.gateway.address = *IpPrefix::parse("192.0.2.0/30");
  config::Link link;
  link.name = "sat";
  link.send_rate = out.rate;
  link.receive_rate = in.rate;
  link.overhead = scenario_.overhead;
  link.control = scenario_.control;
  link.bridged_share = scenario_.bridged_share;
  if (link.finds_capacity()) {
    link.send_rate = scenario_.ceiling.is_zero() ? config::kMostLinkRate : scenario_.ceiling;
    link.receive_rate = scenario_.ceiling.is_zero() ? config::kAssumedRate : scenario_.ceiling;
  }
  config.links.push_back(link);
  config::Peer peer;
  peer.name = "far";
  peer.address = *IpAddress::parse(kGatewayAddress[far]);
  peer.prefixes = {*IpPrefix::parse(kPrefixV4[far]), *IpPrefix::parse(kPrefixV6[far])};
  peer.links = {"sat"};
  if (scenario_.encrypts) {
    peer.security.keys.emplace();
    peer.security.keys->current.bytes()[0] = std::byte{1};
  }
  peer.workers = scenario_.station(opposite(side)).workers;
  config.peers.push_back(peer);
  if (scenario_.hostile_peer && scenario_.hostile_peer->victim == side) {
    add_hostile_peer(scenario_, config);
  }
  config.rules = scenario_.rules;
  config.classes = scenario_.classes;
  const bool other = side == Side::kB;
  const bool local = (scenario_.fair_hosts == config::FairHosts::kLocal) != other;
  config.fair_hosts = local ? config::FairHosts::kLocal : config::FairHosts::kRemote;
  config.stp = scenario_.stp;
  config.limits = scenario_.station(side).limits;
  config.worker.count = scenario_.station(side).workers;
  return config;
}

Network::Network(const Scenario& scenario, Tracer& tracer)
    : scenario_(scenario),
      tracer_(&tracer),
      frames_(wire::kMaxEthernetHeaderSize + std::max(scenario.lan_mtu, scenario.wan_mtu)) {
  satellite_ = std::make_unique<SatelliteLink>(loop_, frames_, tracer, scenario.a_to_b,
                                               scenario.b_to_a, scenario.overhead, scenario.seed);
  satellite_->on_frame([this](unsigned, ConstBytes frame) {
    if (FlowResult* flow = flow_of(frame)) ++flow->crossed_raw;
  });
  satellite_->on_lost([this](ConstBytes frame) {
    if (FlowResult* flow = flow_of(frame)) ++flow->lost_raw;
  });
  build_station(Side::kA);
  build_station(Side::kB);
  introduce_hosts();
  for (const FlowSpec& flow : scenario.flows) open(flow);
  if (scenario.hostile_peer && scenario.gateways_present) let_in_hostile_peer();
  for (const Forging& forging : scenario.forgings) let_in_forger(forging);
  schedule_faults();
}

void Network::schedule_faults() {
  for (const Outage& outage : scenario_.outages) {
    loop_.at(outage.when, [this, outage] { satellite_->set_outage(true, outage.ways); });
    loop_.at(outage.when + outage.length,
             [this, outage] { satellite_->set_outage(false, outage.ways); });
  }
  for (const Shrinking& shrinking : scenario_.shrinkings) {
    loop_.at(shrinking.when, [this, shrinking] {
      host(shrinking.side, shrinking.host).limit_receiving(shrinking.receive_limit);
    });
  }
  for (const Absence& absence : scenario_.absences) {
    if (!scenario_.gateways_present) break;
    loop_.at(absence.when, [this, absence] {
      GatewayNode& node = gateway(absence.side);
      if (absence.worker >= node.workers() || stopped_) return;
      node.starve(absence.worker, absence.when + absence.length);
    });
  }
  std::uint64_t epoch = kFirstEpoch;
  for (const Restart& restart : scenario_.restarts) {
    if (!scenario_.gateways_present) break;
    epoch += 1'000'000'000;
    loop_.at(restart.when, [this, restart] {
      if (restart.stop == Stop::kShutDown) {
        gateway(restart.side).shut_down();
      } else {
        gateway(restart.side).kill();
      }
    });
    loop_.at(restart.when + restart.down, [this, restart, epoch] {
      if (stopped_) return;
      // The gateway may be running, if another restart has started it.
      gateway(restart.side).kill();
      if (restart.memory) gateway(restart.side).set_memory(*restart.memory);
      gateway(restart.side).start(epoch);
    });
  }
  for (const Vanishing& vanishing : scenario_.vanishings) {
    loop_.at(vanishing.when, [this, vanishing] {
      tracer_->note(loop_.now(), host(vanishing.side, vanishing.host).spec().name, "vanishes");
      vanish(vanishing);
    });
  }
}

void Network::build_station(Side side) {
  const auto index = static_cast<std::size_t>(side);
  const Station& station = scenario_.station(side);
  lans_[index] = std::make_unique<SimLan>(loop_, frames_, *tracer_, index == 0 ? "lan a" : "lan b",
                                          station.cable, scenario_.seed * 64 + 16 + 20 * index);
  for (const HostSpec& spec : station.hosts) {
    hosts_[index].push_back(std::make_unique<SimHost>(loop_, frames_, *tracer_, spec));
    lans_[index]->attach(*hosts_[index].back());
    hosts_[index].back()->listen([this](const SocketPair& pair) { return receive(pair); });
  }
  const unsigned end = index == 0 ? SatelliteLink::kA : SatelliteLink::kB;
  if (!scenario_.gateways_present) {
    // Without gateways, connect the switch directly to the satellite.
    lans_[index]->connect_gateway(*satellite_, end);
    satellite_->connect(end, *lans_[index], SimLan::kGateway);
    return;
  }
  gateways_[index] = std::make_unique<GatewayNode>(
      loop_, frames_, *tracer_, index == 0 ? "gateway a" : "gateway b", gateway_config(side),
      kGatewayMac[index], station.tick, station.machine);
  GatewayNode& node = *gateways_[index];
  lans_[index]->connect_gateway(node, static_cast<unsigned>(PortId::kLan));
  satellite_->connect(end, node, static_cast<unsigned>(PortId::kWan));
  node.connect(PortId::kLan, *lans_[index], SimLan::kGateway);
  node.connect(PortId::kWan, *satellite_, end);
  node.keep_journal(scenario_.journal);
  node.start(kFirstEpoch + index);
}

void Network::introduce_hosts() {
  if (!scenario_.static_neighbours) return;
  for (const auto& own : {&hosts_[0], &hosts_[1]}) {
    for (const auto& far : {&hosts_[0], &hosts_[1]}) {
      for (const auto& knowing : *own) {
        for (const auto& known : *far) {
          const OwnAddresses& addresses = known->spec().addresses;
          knowing->neighbours().learn(addresses.v4, addresses.mac);
          knowing->neighbours().learn(addresses.v6, addresses.mac);
        }
      }
    }
  }
}

void Network::vanish(const Vanishing& vanishing) {
  host(vanishing.side, vanishing.host).vanish();
  for (std::size_t i = 0; i < flows_.size(); ++i) {
    const bool client = specs_[i].client_side == vanishing.side;
    if ((client ? specs_[i].client_host : specs_[i].server_host) != vanishing.host) continue;
    Outcome& outcome = client ? flows_[i].client : flows_[i].server;
    // A host that vanishes in TIME-WAIT may still have to acknowledge its peer's FIN.
    outcome.vanished = !flows_[i].client.ended || !flows_[i].server.ended;
  }
}

std::size_t Network::open(const FlowSpec& flow) {
  const std::size_t index = flows_.size();
  flows_.emplace_back();
  specs_.push_back(flow);
  const OwnAddresses& client = host(flow.client_side, flow.client_host).spec().addresses;
  const OwnAddresses& server = host(opposite(flow.client_side), flow.server_host).spec().addresses;
  FlowResult& result = flows_.back();
  result.client.peer = &result.server;
  result.server.peer = &result.client;
  const bool v4 = flow.version == IpVersion::kV4;
  result.pair.local = v4 ? client.v4 : client.v6;
  result.pair.remote = v4 ? server.v4 : server.v6;
  result.pair.local_port = flow.client_port != 0 ? flow.client_port : next_port_++;
  result.pair.remote_port = flow.server_port;
  by_server_pair_[{result.pair.remote, result.pair.local, result.pair.remote_port,
                   result.pair.local_port}] = index;
  if (!flow.start.is_never()) loop_.at(flow.start, [this, index] { start_flow(index); });
  return index;
}

void Network::reopen(std::size_t index) {
  FlowResult& result = flows_[index];
  const SocketPair pair = result.pair;
  result = FlowResult();
  result.pair = pair;
  result.client.peer = &result.server;
  result.server.peer = &result.client;
  by_server_pair_[{pair.remote, pair.local, pair.remote_port, pair.local_port}] = index;
  first_open_ = std::min(first_open_, index);
  start_flow(index);
}

void Network::start_flow(std::size_t index) {
  const FlowSpec& spec = specs_[index];
  SimHost& client = host(spec.client_side, spec.client_host);
  if (client.vanished()) {
    flows_[index].client.vanished = true;
    return;
  }
  client.connect(flows_[index].pair, spec.client_plan, flows_[index].client);
}

FlowResult* Network::flow_of(ConstBytes frame) {
  const auto ethernet = wire::parse_ethernet(frame);
  if (!ethernet) return nullptr;
  const auto ip = wire::parse_ip(frame.subspan(ethernet->size()));
  if (!ip || ip->protocol != wire::kProtocolTcp) return nullptr;
  const auto tcp = wire::parse_tcp(frame.subspan(ethernet->size() + ip->header_size));
  if (!tcp) return nullptr;
  const std::uint16_t source = tcp->header.source_port;
  const std::uint16_t destination = tcp->header.destination_port;
  // The frame may be from the client or from the server, so look for the flow in both directions.
  auto flow = by_server_pair_.find({ip->destination, ip->source, destination, source});
  if (flow == by_server_pair_.end()) {
    flow = by_server_pair_.find({ip->source, ip->destination, source, destination});
  }
  return flow == by_server_pair_.end() ? nullptr : &flows_[flow->second];
}

std::optional<SimHost::Reception> Network::receive(const SocketPair& at_server) {
  const auto found = by_server_pair_.find(at_server);
  if (found == by_server_pair_.end()) return receive_stranger(at_server);
  FlowResult& flow = flows_[found->second];
  if (flow.server.started) {
    ++flow.repeated_opens;
    return std::nullopt;
  }
  if (specs_[found->second].server == Server::kRefuses) return std::nullopt;
  return SimHost::Reception{specs_[found->second].server_plan, &flow.server};
}

bool Network::run_until_peers_alive(Instant limit) {
  const unsigned lanes = std::max(scenario_.stations[0].workers, scenario_.stations[1].workers);
  return loop_.run_until(limit, [this, lanes] {
    const auto is_alive = [](const gateway::PeerSnapshot& peer) {
      return peer.state == stp::PeerState::kAlive;
    };
    for (const auto& node : gateways_) {
      const auto peers = node->peers();
      if (peers.size() != lanes || !std::ranges::all_of(peers, is_alive)) return false;
    }
    return true;
  });
}

bool Network::run_until_flows_over(Instant limit) {
  return loop_.run_until(limit, [this] {
    while (first_open_ < flows_.size() && flows_[first_open_].over()) ++first_open_;
    return first_open_ == flows_.size();
  });
}

bool Network::drained() {
  for (const Side side : {Side::kA, Side::kB}) {
    for (const auto& host : hosts_[static_cast<std::size_t>(side)]) {
      if (host->connection_count() != 0) return false;
    }
    if (!is_running(side)) continue;
    if (gateway(side).flow_count() != 0) return false;
    if (gateway(side).arena_used(loop_.now()) != 0) return false;
    // A stream that has no bytes left exists until the peer knows how the stream ended.
    for (const auto& peer : gateway(side).peers()) {
      if (peer.streams != 0) return false;
    }
  }
  return true;
}

bool Network::run_until_drained(Instant limit) {
  while (loop_.now() < limit) {
    if (drained()) return true;
    loop_.run_until(earlier(limit, loop_.now() + Duration::milliseconds(500)));
  }
  return drained();
}

std::size_t Network::frames_left_over() {
  constexpr Duration kLongerThanAnyPath = Duration::seconds(30);
  stopped_ = true;
  for (const auto& node : gateways_) {
    if (node != nullptr) node->kill();
  }
  run_for(kLongerThanAnyPath);
  // Hosts repeat ARP and ND requests for longer than kLongerThanAnyPath. So frames may still wait
  // for an unknown MAC. Release them.
  for (const auto& hosts : hosts_) {
    for (const auto& host : hosts) host->neighbours().clear();
  }
  for (const auto& host : attackers_) host->neighbours().clear();
  return frames_.in_use();
}

std::uint64_t Network::counted(Counter counter) {
  std::uint64_t sum = 0;
  for (const auto& node : gateways_) {
    if (node != nullptr) sum += node->counted(counter);
  }
  return sum;
}

std::uint64_t Network::bridged_tcp() {
  std::uint64_t sum = 0;
  for (const Counter counter :
       {Counter::kBridgedByRule, Counter::kBridgedPeerDown, Counter::kBridgedTableFull,
        Counter::kBridgedHalfOpenFull, Counter::kBridgedMemoryLow, Counter::kBridgedPeerPart,
        Counter::kBridgedHostPart, Counter::kBridgedTcpOptions, Counter::kBridgedLowTtl,
        Counter::kBridgedMidStream, Counter::kBridgedNoPeerPrefix}) {
    sum += counted(counter);
  }
  return sum;
}

}  // namespace satrelay::sim
