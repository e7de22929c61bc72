#include "relay/sim/scenarios/random_scenario.h"

#include <algorithm>

#include "pep/base/random.h"
#include "relay/sim/scenarios/draws.h"
#include "relay/sim/scenarios/scenario.h"

namespace satrelay::sim {
namespace {

config::Limits random_limits(Random& random) {
  config::Limits limits;
  limits.flows = random.chance(0.15) ? 4 + static_cast<std::uint32_t>(random.below(8)) : 1024;
  limits.half_open = random.chance(0.15) ? 1 + static_cast<std::uint32_t>(random.below(4)) : 256;
  const bool small = random.chance(0.3);
  limits.memory = ByteCount(static_cast<std::uint64_t>(
      small ? log_uniform(random, 512 << 10, 4 << 20) : log_uniform(random, 8 << 20, 64 << 20)));
  limits.flow_memory = ByteCount(std::min<std::uint64_t>(
      limits.memory.value(), static_cast<std::uint64_t>(log_uniform(random, 128 << 10, 64 << 20))));
  limits.host_window =
      ByteCount(static_cast<std::uint64_t>(log_uniform(random, 32 << 10, 4 << 20)));
  // These timeouts are shorter than the hosts' patience, so that the gateway ends a hung connection
  // before a host does.
  limits.idle_timeout = Duration::seconds(1'000);
  limits.half_close_timeout = Duration::seconds(600);
  return limits;
}

// Adds two classes to a third of the scenarios, and assigns rules to the classes. The classes come
// from a separate generator, so that a seed still gives the same scenario as before classes
// existed.
void draw_classes(Scenario& scenario, std::uint64_t seed) {
  Random random(~Random(seed).next());
  if (!random.chance(0.33)) return;
  const BitRate slower = std::min(scenario.a_to_b.rate, scenario.b_to_a.rate);
  for (const char* name : {"first", "second"}) {
    config::TrafficClass one{.name = name};
    one.weight = static_cast<std::uint8_t>(1 + random.below(255));
    if (random.chance(0.5)) one.guaranteed = slower.scaled(1 + random.below(39), 100);
    // The maximum is near the link's rate, so that transfers take about as long as without classes.
    if (random.chance(0.3)) one.maximum = slower.scaled(70 + random.below(60), 100);
    scenario.classes.push_back(one);
  }
  if (random.chance(0.3)) scenario.fair_hosts = config::FairHosts::kRemote;
  for (config::Rule& rule : scenario.rules) {
    if (random.chance(0.6)) rule.traffic_class = random.chance(0.5) ? "first" : "second";
  }
}

}  // namespace

Scenario random_scenario(std::uint64_t seed) {
  // Use a random number as the seed, so that neighboring seeds give unrelated scenarios.
  Random random(Random(seed).next());
  Scenario scenario;
  scenario.seed = seed;
  const Duration delay = random_milliseconds(random, 5, 300);
  const double rate = log_uniform(random, 1e6, 1e8);
  const double back = rate * (random.chance(0.5) ? 1.0 : log_uniform(random, 0.1, 1.0));
  scenario.a_to_b =
      random_link(random, BitRate::bits_per_second(static_cast<std::uint64_t>(rate)), delay);
  scenario.b_to_a = random_link(
      random, BitRate::bits_per_second(static_cast<std::uint64_t>(std::max(back, 1e6))), delay);
  const std::uint32_t overheads[] = {config::kOverheadIp, config::kOverheadEthernet, 20};
  scenario.overhead = overheads[random.below(3)];
  // If the link flips bits, hosts must know the MAC addresses of their neighbours beforehand. They
  // would believe an ARP message with a flipped bit, since ARP has no checksum, and the simulated
  // Ethernet frames have no frame check sequence.
  const bool corrupting = scenario.a_to_b.corrupt > 0 || scenario.b_to_a.corrupt > 0;
  scenario.static_neighbours = corrupting || !random.chance(0.4);
  if (random.chance(0.3)) {
    scenario.stp.mtu = static_cast<std::uint16_t>(1'000 + random.below(501));
  }

  // Draw pairs of hosts. Each pair is either in a VLAN of its own, or in none.
  const std::size_t groups = 1 + random.below(3);
  for (const Side side : {Side::kA, Side::kB}) {
    Station& station = scenario.station(side);
    station.cable = random_cable(random);
    station.limits = random_limits(random);
    const Duration ticks[] = {Duration::zero(), Duration::microseconds(50),
                              Duration::milliseconds(1)};
    station.tick = ticks[random.below(3)];
    for (std::size_t i = 0; i < groups; ++i) {
      HostSpec host = make_host(side, i, seed);
      vary_stack(random, host);
      station.hosts.push_back(host);
    }
  }
  for (std::size_t i = 0; i < groups; ++i) {
    if (!random.chance(0.25)) continue;
    const wire::VlanTag tag{0x8100, static_cast<std::uint16_t>(100 + i)};
    for (Station& station : scenario.stations) station.hosts[i].addresses.vlan = tag;
  }

  config::Rule all;
  const config::Compress modes[] = {config::Compress::kAuto, config::Compress::kAuto,
                                    config::Compress::kOff, config::Compress::kOn};
  all.compress = modes[random.below(4)];
  all.modes = random_modes(random);
  if (random.chance(0.3)) {
    config::Rule ssh;
    ssh.match.port.push_back({22, 22});
    ssh.action = config::Action::kBridge;
    scenario.rules.push_back(ssh);
  }
  scenario.rules.push_back(all);
  draw_classes(scenario, seed);

  // Limit the bytes so that the slower direction carries all of them within about half a minute.
  const double most = random.chance(0.2) ? 16e6 : 4e6;
  const auto budget = static_cast<std::uint64_t>(std::min(most, std::max(back, 1e6) / 8 * 20));
  const std::size_t flow_count = 1 + random.below(random.chance(0.2) ? 40 : 10);
  const bool burst = random.chance(0.3);  // all flows start at once
  const std::uint16_t ports[] = {80, 443, 22, 25, 8080};
  for (std::size_t i = 0; i < flow_count; ++i) {
    const DrawnPlans plans = random_plans(random, budget / flow_count + 1);
    const Content contents[] = {Content::kRandom, Content::kText, Content::kMixed};
    FlowSpec& flow = add_flow(scenario, random.chance(0.5) ? Side::kA : Side::kB, plans.client,
                              plans.server, contents[random.below(3)]);
    flow.client_host = flow.server_host = random.below(groups);
    flow.version = random.chance(0.3) ? IpVersion::kV6 : IpVersion::kV4;
    flow.server_port = ports[random.below(5)];
    flow.server = random.chance(0.07) ? Server::kRefuses : Server::kListens;
    // A few flows start before the gateways know each other.
    const Duration start =
        random_milliseconds(random, random.chance(0.1) ? 0 : 3'000, burst ? 3'000 : 12'000);
    flow.start = Instant() + start;
  }
  add_faults(random, scenario, groups);
  scenario.journal = !scenario.restarts.empty() && random.chance(0.5);
  scenario.encrypts = random.chance(0.5);
  return scenario;
}

}  // namespace satrelay::sim
