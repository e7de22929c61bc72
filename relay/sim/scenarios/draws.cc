#include "relay/sim/scenarios/draws.h"

#include <algorithm>
#include <cmath>

#include "relay/sim/scenarios/plans.h"

namespace satrelay::sim {

double log_uniform(Random& random, double low, double high) {
  return low * std::pow(high / low, random.unit());
}

namespace {

std::uint64_t random_size(Random& random, std::uint64_t most) {
  if (random.chance(0.1)) return 0;
  return std::min<std::uint64_t>(most,
                                 static_cast<std::uint64_t>(log_uniform(random, 1, 3'000'000)));
}

}  // namespace

Duration random_milliseconds(Random& random, std::uint64_t low, std::uint64_t high) {
  return Duration::milliseconds(static_cast<std::int64_t>(low + random.below(high - low + 1)));
}

config::LinkDirection random_link(Random& random, BitRate rate, Duration delay) {
  config::LinkDirection link;
  link.rate = rate;
  link.delay = delay;
  if (random.chance(0.6)) link.loss = random.unit() * random.unit() * 0.1;
  if (random.chance(0.15)) {
    config::GilbertElliott bursts;
    bursts.good_to_bad = log_uniform(random, 0.0005, 0.01);
    // Bursts must be short. The model changes its state only when a frame passes. So if a sender is
    // alone on the link, all its retransmissions could fall into one long burst, and a TCP
    // connection rightly ends after eleven losses in a row.
    bursts.bad_to_good = 0.4 + random.unit() * 0.5;
    bursts.loss_bad = 0.8;
    link.gilbert_elliott = bursts;
  }
  if (random.chance(0.3)) link.jitter = random_milliseconds(random, 1, 20);
  if (random.chance(0.3)) {
    link.reorder = random.unit() * 0.05;
    link.reorder_by = random_milliseconds(random, 1, 30);
  }
  if (random.chance(0.3)) link.duplicate = random.unit() * 0.03;
  if (random.chance(0.4)) link.corrupt = random.unit() * random.unit() * 0.02;
  if (random.chance(0.1)) {
    // Handovers to longer and shorter paths.
    Duration at = Duration::seconds(3);
    for (std::uint64_t steps = 1 + random.below(4); steps > 0; --steps) {
      at = at + random_milliseconds(random, 100, 5'000);
      link.delay_steps.push_back({at, random_milliseconds(random, 5, 300)});
    }
    if (random.chance(0.3)) link.delay_order = config::DelayOrder::kKept;
  }
  if (random.chance(0.1)) {
    // The modem changes its modulation and coding without informing the gateway.
    Duration at = Duration::seconds(3);
    for (std::uint64_t steps = 1 + random.below(4); steps > 0; --steps) {
      at = at + random_milliseconds(random, 100, 5'000);
      link.rate_steps.push_back({at, rate.scaled(20 + random.below(81), 100)});
    }
  }
  return link;
}

config::LinkDirection random_cable(Random& random) {
  config::LinkDirection cable;
  const std::uint64_t rates[] = {10'000'000, 100'000'000, 1'000'000'000, 1'000'000'000};
  cable.rate = BitRate::bits_per_second(rates[random.below(4)]);
  cable.delay = Duration::microseconds(static_cast<std::int64_t>(log_uniform(random, 20, 3000)));
  if (random.chance(0.3)) {
    cable.loss = random.unit() * 0.01;
    cable.duplicate = random.unit() * 0.01;
    cable.reorder = random.unit() * 0.01;
    cable.reorder_by = Duration::milliseconds(2);
  }
  return cable;
}

void vary_stack(Random& random, HostSpec& host) {
  if (random.chance(0.3)) {
    host.tcp.mss = static_cast<std::uint16_t>(536 + random.below(1460 - 536 + 1));
  }
  host.tcp.send_limit = static_cast<std::uint64_t>(log_uniform(random, 8'192, 2'000'000));
  host.tcp.receive_limit = static_cast<std::uint64_t>(log_uniform(random, 4'096, 2'000'000));
  host.tcp.window_scale = static_cast<std::uint8_t>(random.below(15));
  host.offer_window_scale = !random.chance(0.15);
  host.offer_sack = !random.chance(0.15);
  host.offer_timestamps = !random.chance(0.25);
  host.tcp.congestion =
      host.seed % 2 == 0 ? control::Congestion::kCubic : control::Congestion::kNewReno;
}

DrawnPlans random_plans(Random& random, std::uint64_t most) {
  const std::uint64_t request = 1 + random.below(2'000);
  DrawnPlans plans;
  switch (random.below(9)) {
    case 0:  // download
    case 1:
      plans = {requester(request), responder(request, random_size(random, most))};
      break;
    case 2:  // upload
      plans = {sender(random_size(random, most)), receiver()};
      break;
    case 3:  // both directions at once
      plans = {sender(random_size(random, most / 2)), sender(random_size(random, most / 2))};
      break;
    case 4:  // the server sends first, the client closes
    {
      const std::uint64_t greeting = 1 + random.below(500);
      plans = {sender(request), greeter(greeting)};
      plans.client.send_after = greeting;
      break;
    }
    case 5:  // the server replies after a half-close, as to `nc -N`
      plans = {sender(random_size(random, most / 2)),
               half_close_user(random_size(random, most / 2))};
      break;
    case 6:  // keystrokes
      plans = {
          typist(20 + random.below(100), 1 + random.below(10), random_milliseconds(random, 1, 300)),
          receiver()};
      break;
    case 7:  // the server closes first
      plans = {requester(request), responder(request, random_size(random, most))};
      plans.server.finish = Finish::kWhenSent;
      break;
    default: {  // one side sends a RST
      const std::uint64_t size = random_size(random, most);
      switch (random.below(5)) {
        case 0:
          plans = {resetter_after_sending(size), receiver()};
          break;
        case 1:
          plans = {sender(size), resetter_after_receiving(random.below(size + 1))};
          plans.client.finish = Finish::kWhenPeerFinished;
          break;
        case 2:
          plans = {resetter_after_receiving(random.below(size + 1)), sender(size)};
          break;
        case 3:
          plans = {requester(request), responder(request, size)};
          plans.client.abort_after = random_milliseconds(random, 0, 3'000);
          break;
        default:
          plans = {requester(request), responder(request, size)};
          plans.server.abort_after = random_milliseconds(random, 0, 3'000);
          break;
      }
      break;
    }
  }
  if (random.chance(0.06)) {
    // One of the two programs hangs.
    Plan& dead = random.chance(0.5) ? plans.client : plans.server;
    const Plan& peer = &dead == &plans.client ? plans.server : plans.client;
    dead.dead_after = random.below(peer.send_bytes + 1);
  }
  if (random.chance(0.15)) {
    Plan& reader = random.chance(0.5) ? plans.client : plans.server;
    reader.read_rate = BitRate::bits_per_second(
        static_cast<std::uint64_t>(log_uniform(random, 300'000, 20'000'000)));
    reader.read_pause = random_milliseconds(random, 0, 5'000);
  }
  return plans;
}

// Draws the modes of a rule. In most rules all modes are local, the usual setting.
config::FlowModes random_modes(Random& random) {
  config::FlowModes modes;
  // Draw the delivery mode from a copy of the generator. So a seed still gives the same other modes
  // as before delivery modes existed.
  Random beside = random;
  for (int i = 0; i < 8; ++i) beside.below(2);
  if (beside.chance(0.15)) modes.delivery = config::DeliveryMode::kPrompt;
  if (random.chance(0.6)) return modes;
  if (random.chance(0.5)) modes.handshake = config::HandshakeMode::kRemote;
  if (modes.handshake == config::HandshakeMode::kRemote && random.chance(0.5)) {
    modes.ack = config::AckMode::kEndToEnd;
  }
  if (random.chance(0.5)) modes.close = config::CloseMode::kConfirmed;
  if (random.chance(0.3)) modes.window = config::WindowMode::kMirror;
  return modes;
}

Side random_side(Random& random) { return random.chance(0.5) ? Side::kA : Side::kB; }

Instant random_instant(Random& random) {
  return Instant() + random_milliseconds(random, 3'000, 15'000);
}

void add_faults(Random& random, Scenario& scenario, std::size_t hosts) {
  if (random.chance(0.1)) {
    scenario.vanishings.push_back(
        {random_side(random), random.below(hosts), random_instant(random)});
  }
  while (random.chance(0.15) && scenario.outages.size() < 3) {
    constexpr config::LinkWays kWays[] = {config::LinkWays::kBoth, config::LinkWays::kBoth,
                                          config::LinkWays::kAToB, config::LinkWays::kBToA};
    // Some outages last minutes. Flows must survive them, as connections between hosts with Linux
    // do.
    const std::uint64_t most = random.chance(0.2) ? 600'000 : 10'000;
    scenario.outages.push_back(
        {random_instant(random), random_milliseconds(random, 10, most), kWays[random.below(4)]});
  }
  while (random.chance(0.12) && scenario.restarts.size() < 4) {
    Restart restart;
    restart.side = random_side(random);
    restart.when = random_instant(random);
    restart.down = random_milliseconds(random, 0, 8'000);
    if (random.chance(0.3)) restart.stop = Stop::kShutDown;
    if (random.chance(0.3)) {
      restart.memory =
          ByteCount(static_cast<std::uint64_t>(log_uniform(random, 512 << 10, 16 << 20)));
    }
    scenario.restarts.push_back(restart);
  }
  std::ranges::sort(scenario.restarts, {}, &Restart::when);
  while (random.chance(0.1) && scenario.shrinkings.size() < 3) {
    scenario.shrinkings.push_back({random_side(random), random.below(hosts), random_instant(random),
                                   static_cast<std::uint64_t>(log_uniform(random, 1'024, 65'536))});
  }
}

}  // namespace satrelay::sim
