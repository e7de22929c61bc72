#include "relay/sim/scenarios/hostile_scenario.h"

#include <algorithm>

#include "pep/base/random.h"
#include "relay/sim/adversaries/tricks.h"
#include "relay/sim/scenarios/draws.h"
#include "relay/sim/scenarios/memory_scenario.h"

namespace satrelay::sim {
namespace {

// A tenth of the cases have all tricks. Half of the remaining cases have one or two tricks, which
// then have more effect because no other trick disturbs them. The other half have up to eight.
std::uint32_t random_tricks(Random& random, std::uint32_t all, unsigned count) {
  if (random.chance(0.1)) return all;
  const std::uint64_t wanted = random.chance(0.5) ? 1 + random.below(2) : 3 + random.below(6);
  std::uint32_t tricks = 0;
  for (std::uint64_t i = 0; i < wanted; ++i) tricks |= std::uint32_t{1} << random.below(count);
  return tricks;
}

std::uint32_t random_count(Random& random) {
  return static_cast<std::uint32_t>(log_uniform(random, 20, random.chance(0.1) ? 3'000 : 500));
}

void add_hostile_peer(Random& random, Scenario& scenario) {
  HostilePeer hostile;
  hostile.victim = random_side(random);
  hostile.seed = random.next();
  hostile.from = Instant() + random_milliseconds(random, 500, 6'000);
  hostile.length = random_milliseconds(random, 3'000, 25'000);
  hostile.packets = random_count(random);
  hostile.tricks =
      random_tricks(random, every_trick<PeerTrick>(), static_cast<unsigned>(PeerTrick::kEnd));
  // Most tricks need streams, so enable the trick that opens them in half of the cases.
  if (random.chance(0.5)) hostile.tricks |= bit(PeerTrick::kOpens);
  scenario.hostile_peer = hostile;
}

void add_forging(Random& random, Scenario& scenario) {
  Forging forging;
  forging.side = random_side(random);
  forging.seed = random.next();
  forging.from = Instant() + random_milliseconds(random, 500, 6'000);
  forging.length = random_milliseconds(random, 3'000, 25'000);
  forging.frames = random_count(random);
  forging.tricks =
      random_tricks(random, every_trick<LanTrick>(), static_cast<unsigned>(LanTrick::kEnd));
  scenario.forgings.push_back(forging);
}

config::LinkDirection calm_link(Random& random, BitRate rate, Duration delay) {
  config::LinkDirection link;
  link.rate = rate;
  link.delay = delay;
  if (random.chance(0.5)) link.loss = random.unit() * random.unit() * 0.03;
  return link;
}

// Builds two stations with honest hosts. The satellite link has no faults except loss, so that a
// failure has few possible causes.
Scenario honest_stations(Random& random, std::uint64_t seed) {
  Scenario scenario;
  scenario.seed = seed;
  const Duration delay = random_milliseconds(random, 5, 300);
  const double rate = log_uniform(random, 1e6, 3e7);
  const double back = rate * (random.chance(0.5) ? 1.0 : log_uniform(random, 0.2, 1.0));
  const auto bits = [](double value) {
    return BitRate::bits_per_second(static_cast<std::uint64_t>(value));
  };
  scenario.a_to_b = calm_link(random, bits(rate), delay);
  scenario.b_to_a = calm_link(random, bits(back), delay);
  const std::size_t hosts = 1 + random.below(3);
  for (const Side side : {Side::kA, Side::kB}) {
    Station& station = scenario.station(side);
    station.cable = random_cable(random);
    station.limits.flows = 2'048;
    station.limits.half_open = random.chance(0.2) ? 8 : 256;
    station.limits.memory =
        ByteCount(static_cast<std::uint64_t>(log_uniform(random, 2 << 20, 32 << 20)));
    station.limits.idle_timeout = Duration::seconds(1'000);
    station.limits.half_close_timeout = Duration::seconds(600);
    if (random.chance(0.3)) station.tick = Duration::milliseconds(1);
    for (std::size_t i = 0; i < hosts; ++i) {
      HostSpec host = make_host(side, i, seed);
      vary_stack(random, host);
      station.hosts.push_back(host);
    }
  }
  config::Rule all;
  const config::Compress modes[] = {config::Compress::kAuto, config::Compress::kOff,
                                    config::Compress::kOn};
  all.compress = modes[random.below(3)];
  all.modes = random_modes(random);
  scenario.rules.push_back(all);
  scenario.encrypts = random.chance(0.5);
  return scenario;
}

void add_honest_flows(Random& random, Scenario& scenario) {
  const std::uint64_t slower =
      std::min(scenario.a_to_b.rate, scenario.b_to_a.rate).to_bits_per_second();
  const auto budget = std::min<std::uint64_t>(2'000'000, slower / 8 * 15);
  const std::size_t flows = 2 + random.below(random.chance(0.2) ? 40 : 10);
  const std::uint16_t ports[] = {80, 443, 22, 25, 8080};
  for (std::size_t i = 0; i < flows; ++i) {
    const DrawnPlans plans = random_plans(random, budget / flows + 1);
    const Content contents[] = {Content::kRandom, Content::kText, Content::kMixed};
    FlowSpec& flow = add_flow(scenario, random_side(random), plans.client, plans.server,
                              contents[random.below(3)]);
    flow.client_host = random.below(scenario.station(flow.client_side).hosts.size());
    flow.server_host = random.below(scenario.station(opposite(flow.client_side)).hosts.size());
    flow.version = random.chance(0.3) ? IpVersion::kV6 : IpVersion::kV4;
    flow.server_port = ports[random.below(5)];
    flow.start = Instant() + random_milliseconds(random, 3'000, 25'000);
  }
}

}  // namespace

Scenario hostile_peer_scenario(std::uint64_t seed) {
  Random random(Random(seed ^ 0x5065657273U).next());
  Scenario scenario = honest_stations(random, seed);
  add_honest_flows(random, scenario);
  add_hostile_peer(random, scenario);
  return scenario;
}

Scenario hostile_lan_scenario(std::uint64_t seed) {
  Random random(Random(seed ^ 0x466f72676572U).next());
  Scenario scenario = honest_stations(random, seed);
  add_honest_flows(random, scenario);
  add_forging(random, scenario);
  if (random.chance(0.3)) add_forging(random, scenario);
  return scenario;
}

Scenario mixed_scenario(std::uint64_t seed) {
  Random random(Random(seed ^ 0x4d69786564U).next());
  Scenario scenario;
  if (random.chance(0.4)) {
    scenario = memory_scenario(random.next());
    scenario.seed = seed;
  } else {
    scenario = honest_stations(random, seed);
    add_honest_flows(random, scenario);
    if (random.chance(0.5)) {
      const auto flows = static_cast<std::size_t>(log_uniform(random, 10, 300));
      add_crowd(random, scenario, flows, 1'000'000);
    }
    if (random.chance(0.3)) add_faults(random, scenario, scenario.stations[0].hosts.size());
    scenario.journal = !scenario.restarts.empty() && random.chance(0.5);
  }
  if (random.chance(0.5)) add_hostile_peer(random, scenario);
  if (random.chance(0.5)) add_forging(random, scenario);
  return scenario;
}

}  // namespace satrelay::sim
