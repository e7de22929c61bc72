#include "relay/sim/scenarios/memory_scenario.h"

#include <algorithm>

#include "pep/base/random.h"
#include "relay/sim/scenarios/draws.h"
#include "relay/sim/scenarios/plans.h"

namespace satrelay::sim {
namespace {

constexpr std::size_t kMostFlows = 3'600;
constexpr std::uint64_t kMostBytes = 6'000'000;
// The longest time in seconds that all bytes may take to cross the slower direction.
constexpr double kLinkSeconds = 40;

// Most scenarios are small, so that many can be run; some have thousands of flows.
std::size_t random_crowd(Random& random) {
  const double kind = random.unit();
  if (kind < 0.60) return static_cast<std::size_t>(log_uniform(random, 20, 200));
  if (kind < 0.93) return static_cast<std::size_t>(log_uniform(random, 200, 900));
  return static_cast<std::size_t>(log_uniform(random, 800, kMostFlows));
}

// Gives the host the windows of a small device, or of a large device with little free memory.
void shrink_stack(Random& random, HostSpec& host) {
  host.tcp.congestion = control::Congestion::kNewReno;
  host.tcp.send_limit = static_cast<std::uint64_t>(log_uniform(random, 4'096, 262'144));
  host.tcp.receive_limit = static_cast<std::uint64_t>(log_uniform(random, 1'024, 65'536));
  if (random.chance(0.3)) host.tcp.receive_limit = 4'096;
  host.tcp.window_scale = static_cast<std::uint8_t>(random.below(8));
  host.offer_window_scale = !random.chance(0.2);
  host.offer_sack = !random.chance(0.15);
  host.offer_timestamps = !random.chance(0.3);
  if (random.chance(0.3)) {
    host.tcp.mss = static_cast<std::uint16_t>(200 + random.below(1460 - 200 + 1));
  }
}

// Makes the reader slow: it reads for up to 40 s, perhaps after a pause of up to 40 s.
void read_slowly(Random& random, Plan& reader, std::uint64_t bytes) {
  const double seconds = log_uniform(random, 1, 40);
  reader.read_rate = BitRate::bits_per_second(std::max<std::uint64_t>(
      2'000, static_cast<std::uint64_t>(static_cast<double>(bytes) * 8 / seconds)));
  if (random.chance(0.5)) reader.read_pause = random_milliseconds(random, 0, 40'000);
}

DrawnPlans plans_of_one(Random& random, std::uint64_t most) {
  const auto size = static_cast<std::uint64_t>(
      log_uniform(random, 1, static_cast<double>(std::max<std::uint64_t>(most, 2))));
  const std::uint64_t request = 1 + random.below(400);
  DrawnPlans plans;
  switch (random.below(7)) {
    case 0:  // one side sends keystrokes: blocks are small, and queues nearly empty
      plans = {
          typist(10 + random.below(200), 1 + random.below(40), random_milliseconds(random, 1, 400)),
          receiver()};
      break;
    case 1:  // the client sends keystrokes, and the server sends as fast as it can
      plans = {
          typist(10 + random.below(100), 1 + random.below(10), random_milliseconds(random, 1, 300)),
          sender(size)};
      break;
    case 2:
      plans = {sender(size), receiver()};
      break;
    case 3:
      plans = {sender(size / 2), sender(size / 2)};
      break;
    default:
      plans = {requester(request), responder(request, size)};
      break;
  }
  if (random.chance(0.5)) read_slowly(random, plans.client, plans.server.send_bytes);
  if (random.chance(0.5)) read_slowly(random, plans.server, plans.client.send_bytes);
  if (random.chance(0.02)) plans.client.abort_after = random_milliseconds(random, 0, 30'000);
  if (random.chance(0.02)) plans.server.abort_after = random_milliseconds(random, 0, 30'000);
  return plans;
}

config::Limits crowded_limits(Random& random, std::size_t flows) {
  config::Limits limits;
  limits.flows = 4'096;
  limits.half_open = random.chance(0.2) ? 16 : 1'024;
  const double least = 2 << 20, most = 32 << 20;
  double memory = log_uniform(random, least, most);
  // Usually there is memory for a few blocks of each flow.
  if (random.chance(0.7)) memory = static_cast<double>(flows) * log_uniform(random, 3e3, 3e4);
  limits.memory = ByteCount(static_cast<std::uint64_t>(std::clamp(memory, least, most)));
  if (random.chance(0.3)) {
    limits.flow_memory =
        ByteCount(static_cast<std::uint64_t>(log_uniform(random, 64 << 10, 2 << 20)));
  }
  if (random.chance(0.3)) {
    limits.host_window =
        ByteCount(static_cast<std::uint64_t>(log_uniform(random, 8 << 10, 4 << 20)));
  }
  limits.idle_timeout = Duration::seconds(1'000);
  limits.half_close_timeout = Duration::seconds(600);
  return limits;
}

void add_steps(Random& random, config::LinkDirection& link) {
  Duration at = Duration::seconds(3);
  for (std::uint64_t steps = 1 + random.below(5); steps > 0; --steps) {
    at = at + random_milliseconds(random, 200, 15'000);
    link.rate_steps.push_back({at, link.rate.scaled(10 + random.below(91), 100)});
  }
}

config::LinkDirection plain_link(Random& random, double rate, Duration delay) {
  config::LinkDirection link;
  link.rate = BitRate::bits_per_second(static_cast<std::uint64_t>(rate));
  link.delay = delay;
  if (random.chance(0.5)) link.loss = random.unit() * random.unit() * 0.05;
  if (random.chance(0.15)) {
    link.reorder = random.unit() * 0.02;
    link.reorder_by = random_milliseconds(random, 1, 20);
  }
  if (random.chance(0.25)) add_steps(random, link);
  return link;
}

}  // namespace

void add_crowd(Random& random, Scenario& scenario, std::size_t flows, std::uint64_t budget) {
  const std::uint64_t share = budget / flows;
  // A flow may transfer up to ten times the average.
  const std::uint64_t most = std::clamp<std::uint64_t>(share * 10, 64, 400'000);
  const Duration over = random_milliseconds(random, 0, random.chance(0.3) ? 500 : 20'000);
  const double from_a = random.chance(0.5) ? 0.5 : random.unit();
  const std::uint16_t ports[] = {80, 443, 22, 25, 8080};
  std::uint64_t left = budget;
  for (std::size_t i = 0; i < flows; ++i) {
    const DrawnPlans plans =
        plans_of_one(random, std::min(most, std::max<std::uint64_t>(left, 64)));
    left -= std::min(left, plans.client.send_bytes + plans.server.send_bytes);
    const Content contents[] = {Content::kRandom, Content::kText, Content::kMixed};
    FlowSpec& flow = add_flow(scenario, random.chance(from_a) ? Side::kA : Side::kB, plans.client,
                              plans.server, contents[random.below(3)]);
    flow.client_host = random.below(scenario.station(flow.client_side).hosts.size());
    flow.server_host = random.below(scenario.station(opposite(flow.client_side)).hosts.size());
    flow.version = random.chance(0.2) ? IpVersion::kV6 : IpVersion::kV4;
    flow.server_port = ports[random.below(5)];
    flow.start = Instant() + Duration::seconds(3) +
                 random_milliseconds(random, 0, static_cast<std::uint64_t>(over.to_milliseconds()));
  }
}

Scenario memory_scenario(std::uint64_t seed) {
  Random random(Random(seed ^ 0x4d656d6f7279U).next());
  Scenario scenario;
  scenario.seed = seed;
  const std::size_t flows = random_crowd(random);
  const Duration delay = random_milliseconds(random, 5, 300);
  const double rate = log_uniform(random, 1e6, 3e7);
  const double back = rate * (random.chance(0.5) ? 1.0 : log_uniform(random, 0.2, 1.0));
  scenario.a_to_b = plain_link(random, rate, delay);
  scenario.b_to_a = plain_link(random, back, delay);
  const std::size_t hosts = 1 + random.below(6);
  for (const Side side : {Side::kA, Side::kB}) {
    Station& station = scenario.station(side);
    station.cable = random_cable(random);
    station.limits = crowded_limits(random, flows);
    if (random.chance(0.3)) station.tick = Duration::milliseconds(1);
    for (std::size_t i = 0; i < hosts; ++i) {
      HostSpec host = make_host(side, i, seed);
      shrink_stack(random, host);
      station.hosts.push_back(host);
    }
  }
  config::Rule all;
  const config::Compress modes[] = {config::Compress::kAuto, config::Compress::kOff,
                                    config::Compress::kOn};
  all.compress = modes[random.below(3)];
  if (random.chance(0.3)) all.modes = random_modes(random);
  scenario.rules.push_back(all);
  const double seconds = kLinkSeconds * std::max(back, 1e6) / 8;
  add_crowd(
      random, scenario, flows,
      std::min(kMostBytes, static_cast<std::uint64_t>(seconds * log_uniform(random, 0.1, 1))));
  while (random.chance(0.1) && scenario.outages.size() < 2) {
    // Most outages are short, but some last up to ten minutes.
    const auto length = static_cast<std::int64_t>(log_uniform(random, 10, 600'000));
    scenario.outages.push_back(
        {random_instant(random), Duration::milliseconds(length), config::LinkWays::kBoth});
  }
  if (random.chance(0.1)) {
    scenario.restarts.push_back({.side = random_side(random),
                                 .when = random_instant(random),
                                 .down = random_milliseconds(random, 0, 3'000)});
  }
  while (random.chance(0.2) && scenario.shrinkings.size() < 3) {
    scenario.shrinkings.push_back({random_side(random), random.below(hosts), random_instant(random),
                                   static_cast<std::uint64_t>(log_uniform(random, 512, 16'384))});
  }
  scenario.encrypts = random.chance(0.2);
  return scenario;
}

}  // namespace satrelay::sim
