// Hostile hosts and terminals: how they join the network, and how honest hosts treat them.
#include <algorithm>

#include "pep/base/random.h"
#include "relay/sim/network/network.h"
#include "relay/sim/network/network_addresses.h"
#include "relay/sim/scenarios/draws.h"
#include "relay/sim/scenarios/plans.h"

namespace satrelay::sim {
namespace {

constexpr std::byte kHostileKey{2};
constexpr std::size_t kMostBaits = 6;
constexpr std::size_t kMostKnown = 100;      // the largest number of flows that a forger knows
constexpr std::size_t kFirstAttacker = 190;  // host number of the first forging host on a LAN
// How long an honest host waits for progress. Hostile hosts may abandon connections.
constexpr Duration kPatience = Duration::seconds(300);

// The plan of an honest host for a connection with a hostile host.
Plan plan_for_stranger(Random& random) {
  Plan plan = random.chance(0.5) ? receiver() : sender(random.below(50'000));
  if (random.chance(0.3)) {
    plan.read_rate = BitRate::bits_per_second(
        static_cast<std::uint64_t>(log_uniform(random, 20'000, 1'000'000)));
  }
  plan.patience = kPatience;
  return plan;
}

bool is_hostile(const IpAddress& address) {
  return IpPrefix::parse(kHostilePrefixV4)->contains(address) ||
         IpPrefix::parse(kHostilePrefixV6)->contains(address);
}

// Returns the addresses from which a forging host opens connections. The TCP of its SimHost does
// not know them, and thus does not answer for them.
OwnAddresses raw_addresses(const OwnAddresses& own) {
  OwnAddresses raw = own;
  std::array<std::uint8_t, 16> v4 = own.v4.octets();
  std::array<std::uint8_t, 16> v6 = own.v6.octets();
  raw.v4 = IpAddress::v4({v4[0], v4[1], v4[2], static_cast<std::uint8_t>(v4[3] + 20)});
  v6[15] = static_cast<std::uint8_t>(v6[15] + 20);
  raw.v6 = IpAddress::v6(v6);
  return raw;
}

}  // namespace

HostileHost hostile_host(std::size_t index) {
  const auto last = static_cast<std::uint8_t>(10 + index);
  return {.v4 = IpAddress::v4({100, 64, 3, last}),
          .v6 = IpAddress::v6({0x20, 0x01, 0x0d, 0xb8, 0, 0xc, 0, 0, 0, 0, 0, 0, 0, 0, 0, last}),
          .mac = {{0x02, 0x00, 0x5e, 0x00, 0x0c, last}}};
}

void add_hostile_peer(const Scenario& scenario, config::Gateway& config) {
  config.gateway.address = *IpPrefix::parse("192.0.2.0/29");
  config::Peer peer;
  peer.name = kHostileName;
  peer.address = *IpAddress::parse(kHostileAddress);
  peer.prefixes = {*IpPrefix::parse(kHostilePrefixV4), *IpPrefix::parse(kHostilePrefixV6)};
  peer.links = {config.links.front().name};
  if (scenario.encrypts) {
    peer.security.keys.emplace();
    peer.security.keys->current.bytes()[0] = kHostileKey;
  }
  config.peers.push_back(peer);
}

std::vector<KnownFlow> Network::known_flows() const {
  std::vector<KnownFlow> known;
  for (std::size_t i = 0; i < flows_.size() && i < kMostKnown; ++i) {
    const FlowSpec& spec = specs_[i];
    const auto& client = scenario_.station(spec.client_side).hosts[spec.client_host];
    const auto& server = scenario_.station(opposite(spec.client_side)).hosts[spec.server_host];
    known.push_back({{flows_[i].pair.local, client.addresses.mac},
                     {flows_[i].pair.remote, server.addresses.mac},
                     flows_[i].pair.local_port,
                     flows_[i].pair.remote_port});
  }
  return known;
}

std::vector<KnownConnection> Network::hosts_of(Side side) const {
  std::vector<KnownConnection> list;
  for (const HostSpec& host : scenario_.station(side).hosts) {
    list.push_back({host.addresses.v4, host.addresses.mac});
    list.push_back({host.addresses.v6, host.addresses.mac});
  }
  return list;
}

KnownHosts Network::known_hosts() const {
  KnownHosts known;
  for (std::size_t i = 0; i < kHostileHosts; ++i) {
    const HostileHost host = hostile_host(i);
    known.own.push_back({host.v4, host.mac});
    known.own.push_back({host.v6, host.mac});
  }
  const Side victim = scenario_.hostile_peer->victim;
  known.near = hosts_of(victim);
  known.others = hosts_of(opposite(victim));
  const MacAddress nobody{{0x02, 0, 0, 0, 0, 0x77}};
  for (const char* address :
       {kGatewayAddress[0], kGatewayAddress[1], kHostileAddress, "0.0.0.0", "127.0.0.1",
        "255.255.255.255", "224.0.0.1", "198.51.100.255", "10.1.2.3", "::", "::1", "ff02::1",
        "fe80::1", "2001:db8:a::77", "2001:db8:b::77"}) {
    known.others.push_back({*IpAddress::parse(address), nobody});
  }
  known.others.push_back({*IpAddress::parse("203.0.113.77"), MacAddress::broadcast()});
  known.flows = known_flows();
  known.ports = {80, 443, 22, 25, 8080, 7};
  return known;
}

void Network::let_in_hostile_peer() {
  const HostilePeer& spec = *scenario_.hostile_peer;
  const auto victim = static_cast<std::size_t>(spec.victim);
  HostileTerminal::Config config;
  config.spec = spec;
  config.own = {*IpAddress::parse(kHostileAddress), kHostileMac};
  config.victim = {*IpAddress::parse(kGatewayAddress[victim]), kGatewayMac[victim]};
  config.honest = {*IpAddress::parse(kGatewayAddress[1 - victim]), kGatewayMac[1 - victim]};
  const unsigned workers = scenario_.stations[victim].workers;
  config.lane = {.number = static_cast<std::uint8_t>(spec.seed % workers),
                 .count = static_cast<std::uint8_t>(workers)};
  config.honest_lanes =
      static_cast<std::uint8_t>(std::max(workers, scenario_.stations[1 - victim].workers));
  config.delay = scenario_.a_to_b.delay;
  if (scenario_.encrypts) {
    config.psk.emplace();
    config.psk->bytes()[0] = kHostileKey;
  }
  config.known = known_hosts();
  hostile_ = std::make_unique<HostileTerminal>(loop_, frames_, config);
  junction_ = std::make_unique<WanJunction>(frames_, *satellite_, *hostile_, kHostileMac);
  const auto wan = static_cast<unsigned>(gateway::PortId::kWan);
  gateways_[victim]->connect(gateway::PortId::kWan, *junction_,
                             victim == 0 ? SatelliteLink::kA : SatelliteLink::kB);
  hostile_->connect(*gateways_[victim], wan);
  for (const auto& host : hosts_[victim]) {
    for (std::size_t i = 0; i < kHostileHosts; ++i) {
      const HostileHost far = hostile_host(i);
      host->neighbours().learn(far.v4, far.mac);
      host->neighbours().learn(far.v6, far.mac);
    }
  }
  bait_hostile_peer();
}

// Makes honest hosts connect to hosts behind the hostile terminal. The terminal may leave these
// connections unanswered.
void Network::bait_hostile_peer() {
  const HostilePeer& spec = *scenario_.hostile_peer;
  Random random(spec.seed + 2);
  const auto& hosts = hosts_[static_cast<std::size_t>(spec.victim)];
  for (std::uint64_t baits = random.below(kMostBaits + 1); baits > 0; --baits) {
    SimHost& client = *hosts[random.below(hosts.size())];
    const HostileHost far = hostile_host(random.below(kHostileHosts));
    const OwnAddresses& own = client.spec().addresses;
    const bool v4 = random.chance(0.7);
    const SocketPair pair{v4 ? own.v4 : own.v6, v4 ? far.v4 : far.v6,
                          static_cast<std::uint16_t>(50'000 + random.below(5'000)), 80};
    const Plan plan = plan_for_stranger(random);
    Outcome& outcome = strangers_.emplace_back();
    const auto most = static_cast<std::uint64_t>(spec.length.to_milliseconds());
    loop_.at(spec.from + random_milliseconds(random, 0, most),
             [&client, pair, plan, &outcome] { client.connect(pair, plan, outcome); });
  }
}

void Network::let_in_forger(const Forging& spec) {
  const auto side = static_cast<std::size_t>(spec.side);
  attackers_.push_back(std::make_unique<SimHost>(
      loop_, frames_, *tracer_,
      make_host(spec.side, kFirstAttacker + attackers_.size(), scenario_.seed)));
  SimHost& attacker = *attackers_.back();
  lans_[side]->attach(attacker);
  Forger::Knowledge known;
  known.flows = known_flows();
  known.is_established = [this](std::size_t flow) {
    const FlowResult& result = flows_[flow];
    return result.client.established && result.server.established && !result.client.ended &&
           !result.server.ended;
  };
  for (std::size_t i = 0; i < 2; ++i) {
    known.gateways.push_back({*IpAddress::parse(kGatewayAddress[i]), kGatewayMac[i]});
  }
  known.far = hosts_of(opposite(spec.side));
  known.raw = raw_addresses(attacker.spec().addresses);
  for (const auto& host : hosts_[1 - side]) {
    host->neighbours().learn(known.raw.v4, known.raw.mac);
    host->neighbours().learn(known.raw.v6, known.raw.mac);
  }
  forgers_.push_back(std::make_unique<Forger>(loop_, attacker, spec, std::move(known)));
}

std::optional<SimHost::Reception> Network::receive_stranger(const SocketPair& at_server) {
  if (scenario_.hostile_peer && is_hostile(at_server.remote)) {
    Random random(scenario_.hostile_peer->seed + strangers_.size());
    return SimHost::Reception{plan_for_stranger(random), &strangers_.emplace_back()};
  }
  if (at_server.remote_port >= Forger::kFirstPort) {
    // A forger opened the connection, either from its own address or in the name of another host.
    // In the second case that host would reset the connection, so refuse it.
    const bool is_own = std::ranges::any_of(attackers_, [&](const auto& attacker) {
      const OwnAddresses raw = raw_addresses(attacker->spec().addresses);
      return at_server.remote == raw.v4 || at_server.remote == raw.v6;
    });
    if (!is_own) return std::nullopt;
    Random random(scenario_.seed + strangers_.size());
    return SimHost::Reception{plan_for_stranger(random), &strangers_.emplace_back()};
  }
  // A forger sent the SYN in the name of a host on its own LAN, and that host no longer has the
  // connection. No gateway can tell such a SYN from a genuine one.
  const bool is_forged = std::ranges::any_of(
      forgers_, [&](const auto& forger) { return forger->has_asked_for(at_server); });
  if (is_forged) return std::nullopt;
  // A restarted gateway sends SYNs in the names of far hosts, to learn sequence numbers from the
  // answers. So count SYNs only in runs without restarts.
  if (scenario_.restarts.empty()) ++impostors_;
  return std::nullopt;
}

}  // namespace satrelay::sim
