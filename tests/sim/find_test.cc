// capacity: find over whole gateways that are told nothing, or a ceiling only: how soon a link is
// used, what becomes of a fade and of its end, and what is left to others who share the modem. The
// other is a host of ours with CUBIC, which hangs on the link directly, beside the gateways.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>

#include "pep/wire/ethernet.h"
#include "relay/sim/network.h"
#include "relay/sim/plans.h"
#include "relay/sim/scenario.h"

namespace satrelay::sim::find_test {
namespace {

constexpr BitRate megabit(std::uint64_t n) { return BitRate::bits_per_second(n * 1'000'000); }
constexpr Duration kRoundTrip = Duration::milliseconds(550);
constexpr Instant kStart = Instant() + Duration::seconds(5);

Scenario found_link(BitRate rate, Duration round_trip = kRoundTrip) {
  LinkSpec link;
  link.rate = rate;
  link.one_way_delay = round_trip / 2;
  Scenario scenario = make_lab(1, link);
  scenario.control.controller = config::Controller::kFind;
  for (Station& station : scenario.stations) {
    station.cable.rate = megabit(10'000);
    for (HostSpec& host : station.hosts) {
      host.tcp.send_limit = host.tcp.receive_limit = 4 << 20;
    }
  }
  return scenario;
}

// What the gateways' frames take of the modem at B, where the bytes of a download enter the link.
class Modem {
 public:
  explicit Modem(const Scenario& scenario) : network(scenario, tracer) {
    network.satellite().on_frame([this](unsigned from, ConstBytes) {
      if (from == SatelliteLink::kB) {
        worst = std::max(worst, way().queue_delay(network.loop().now()));
      }
    });
  }
  // Share of `rate` that the modem carries over `time`, all who send taken together.
  double carried(BitRate rate, Duration time) {
    const std::uint64_t before = way().counters().bytes_carried;
    worst = Duration::zero();
    network.run_for(time);
    return static_cast<double>(way().counters().bytes_carried - before) /
           static_cast<double>(rate.bytes_in(time).value());
  }
  void run_until(Duration since_start) { network.loop().run_until(kStart + since_start); }
  link::LinkDirection& way() { return network.satellite().from_b(); }
  double milliseconds() const { return worst.to_seconds() * 1e3; }

  Tracer tracer;
  Network network;
  Duration worst;  // queue
};

void add_download(Scenario& scenario, std::uint64_t bytes = 4'000'000'000) {
  add_flow(scenario, Side::kA, requester(100), responder(100, bytes));
}

TEST(Find, AGeostationaryLinkIsUsedThreeSecondsAfterTheFirstSyn) {
  for (const double loss : {0.0, 0.05}) {
    Scenario scenario = found_link(megabit(50));
    scenario.b_to_a.loss = loss;
    add_download(scenario);
    Modem modem(scenario);
    modem.run_until(Duration::seconds(3));
    const double share = modem.carried(megabit(50), Duration::seconds(1));
    const double later = modem.carried(megabit(50), Duration::seconds(20));
    std::printf("  50 Mbit/s, loss %.2f: %.3f in the 4th second, then %.3f, queue up to %.1f ms\n",
                loss, share, later, modem.milliseconds());
    EXPECT_GT(share, 0.9);
    EXPECT_GT(later, 0.95);
  }
}

// Who has little to send learns nothing of what it loses: reports of the other way are lost, too.
TEST(Find, LossBothWaysIsNoCongestion) {
  for (std::uint64_t seed = 1; seed <= 24; ++seed) {
    Scenario scenario = found_link(megabit(50));
    scenario.seed = seed;
    scenario.b_to_a.loss = scenario.a_to_b.loss = 0.05;
    add_download(scenario);
    Modem modem(scenario);
    modem.run_until(Duration::seconds(3));
    const double share = modem.carried(megabit(50), Duration::seconds(1));
    const double later = modem.carried(megabit(50), Duration::seconds(3));
    std::printf("  seed %d: %.3f in the 4th second, then %.3f\n", static_cast<int>(seed), share,
                later);
    EXPECT_GT(share, 0.88) << seed;
    EXPECT_GT(later, 0.95) << seed;
  }
}

TEST(Find, AGigabitIsUsedAfterFive) {
  Scenario scenario = found_link(megabit(1000));
  for (Station& station : scenario.stations) {
    for (HostSpec& host : station.hosts) host.tcp.send_limit = host.tcp.receive_limit = 16 << 20;
  }
  add_download(scenario);
  Modem modem(scenario);
  modem.run_until(Duration::seconds(5));
  const double share = modem.carried(megabit(1000), Duration::seconds(1));
  std::printf("  1 Gbit/s: %.3f in the 6th second, queue up to %.1f ms\n", share,
              modem.milliseconds());
  EXPECT_GT(share, 0.9);
}

constexpr Duration kFade = Duration::seconds(12), kReturn = Duration::seconds(27);

// A modem queue of 100 ms of the higher rate.
Scenario fading_link() {
  Scenario scenario = found_link(megabit(60));
  scenario.b_to_a.queue = megabit(60).bytes_in(Duration::milliseconds(100));
  scenario.b_to_a.rate_steps = {{Duration::seconds(5) + kFade, megabit(9)},
                                {Duration::seconds(5) + kReturn, megabit(60)}};
  return scenario;
}

Scenario low_orbit() {
  Scenario scenario = found_link(megabit(100), Duration::milliseconds(50));
  constexpr int kDelays[] = {22, 31, 25, 18, 35, 20};
  for (int i = 0; i < 6; ++i) {
    const Duration at = Duration::seconds(15 * (i + 1));
    scenario.b_to_a.delay_steps.push_back({at, Duration::milliseconds(kDelays[i])});
    scenario.a_to_b.delay_steps.push_back({at, Duration::milliseconds(kDelays[i])});
  }
  return scenario;
}

TEST(Find, AFadeIsFoundAndItsEnd) {
  for (const std::uint64_t ceiling : {0, 60}) {
    Scenario scenario = fading_link();
    scenario.ceiling = megabit(ceiling);
    add_download(scenario);
    Modem modem(scenario);
    modem.run_until(kFade - Duration::seconds(4));
    const double before = modem.carried(megabit(60), Duration::seconds(4));
    // The first report that can know arrives a round trip after the step.
    modem.run_until(kFade + kRoundTrip * 5);
    const double low = modem.carried(megabit(9), Duration::seconds(10));
    const double queue = modem.milliseconds();
    modem.run_until(kReturn + (ceiling > 0 ? Duration::seconds(2) : kRoundTrip * 6));
    const double back = modem.carried(megabit(60), Duration::seconds(5));
    std::printf(
        "  60 to 9 to 60 Mbit/s, ceiling %d: %.3f, then %.3f of 9 with a queue up to %.1f ms, "
        "then %.3f\n",
        static_cast<int>(ceiling), before, low, queue, back);
    EXPECT_GT(low, 0.95);
    EXPECT_LT(queue, 50);
    EXPECT_GT(back, 0.95);
  }
}

TEST(Find, TheOthersGetOverAFade) {
  for (const auto controller : {config::Controller::kFixedRate, config::Controller::kHpfp}) {
    Scenario scenario = fading_link();
    scenario.control.controller = controller;
    add_download(scenario);
    Modem modem(scenario);
    modem.run_until(kFade + kRoundTrip * 5);
    const double low = modem.carried(megabit(9), Duration::seconds(10));
    const double queue = modem.milliseconds();
    modem.run_until(kReturn);
    double seconds = 0;
    while (seconds < 20 && modem.carried(megabit(60), Duration::milliseconds(500)) < 0.95) {
      seconds += 0.5;
    }
    modem.run_until(kReturn + Duration::seconds(10));
    const double back = modem.carried(megabit(60), Duration::seconds(10));
    std::printf(
        "  %s: %.3f of 9 with a queue up to %.1f ms, 95%% back after %.1f s, %.3f from 10 s on\n",
        config::to_string(controller), low, queue, seconds, back);
    EXPECT_LT(seconds, 8);
    EXPECT_GT(back, 0.95);
  }
}

// CUBIC from end to end, without gateways, for comparison.
TEST(Find, CubicAloneInTheSameScenarios) {
  const auto direct = [](Scenario scenario) {
    scenario.gateways_present = false;
    for (Station& station : scenario.stations) {
      for (HostSpec& host : station.hosts) {
        host.tcp.send_limit = host.tcp.receive_limit = 16 << 20;
        host.tcp.window_scale = 10;
      }
    }
    add_download(scenario);
    return scenario;
  };
  double lossy = 1;
  for (const double loss : {0.0, 0.05}) {
    Scenario scenario = found_link(megabit(50));
    scenario.b_to_a.loss = loss;
    Modem modem(direct(scenario));
    modem.run_until(Duration::seconds(3));
    const double share = modem.carried(megabit(50), Duration::seconds(1));
    lossy = modem.carried(megabit(50), Duration::seconds(20));
    std::printf("  CUBIC, 50 Mbit/s, loss %.2f: %.3f in the 4th second, then %.3f, queue %.0f ms\n",
                loss, share, lossy, modem.milliseconds());
  }
  EXPECT_LT(lossy, 0.1);
  Modem modem(direct(fading_link()));
  modem.run_until(kFade + kRoundTrip * 5);
  const double low = modem.carried(megabit(9), Duration::seconds(10));
  const double queue = modem.milliseconds();
  modem.run_until(kReturn + kRoundTrip * 6);
  const double back = modem.carried(megabit(60), Duration::seconds(5));
  std::printf("  CUBIC, 60 to 9 to 60 Mbit/s: %.3f of 9 with a queue up to %.0f ms, then %.3f\n",
              low, queue, back);
  Modem orbit(direct(low_orbit()));
  orbit.run_until(Duration::seconds(5));
  std::printf("  CUBIC, LEO: %.3f", orbit.carried(megabit(100), Duration::seconds(85)));
  std::printf(", queue up to %.0f ms\n", orbit.milliseconds());
}

TEST(Find, HandoversAreNoCongestion) {
  Scenario scenario = low_orbit();
  add_download(scenario);
  Modem modem(scenario);
  modem.run_until(Duration::seconds(5));
  const double share = modem.carried(megabit(100), Duration::seconds(85));
  std::printf("  LEO: %.3f, queue up to %.1f ms\n", share, modem.milliseconds());
  EXPECT_GT(share, 0.95);
}

// --- beside others -----------------------------------------------------------------------------

// Hands frames for a host that stands beside a gateway to that host, all others to the gateway.
class Junction final : public FrameSink {
 public:
  Junction(FramePool& frames, SimHost& host, GatewayNode& gateway)
      : frames_(frames), host_(host), gateway_(gateway) {}
  void receive(unsigned port, FrameHandle frame) override {
    const auto ethernet = wire::parse_ethernet(frames_.bytes(frame));
    if (ethernet && ethernet->destination == host_.spec().addresses.mac) {
      host_.receive(frame);
    } else {
      gateway_.receive(port, frame);
    }
  }

 private:
  FramePool& frames_;
  SimHost& host_;
  GatewayNode& gateway_;
};

// A download from a host beside gateway B to one beside gateway A, with CUBIC.
class Rival {
 public:
  Rival(Network& network, Tracer& tracer, std::uint64_t window)
      : server_(network.loop(), network.frames(), tracer, host(Side::kB, window)),
        client_(network.loop(), network.frames(), tracer, host(Side::kA, window)),
        at_a_(network.frames(), client_, network.gateway(Side::kA)),
        at_b_(network.frames(), server_, network.gateway(Side::kB)) {
    const auto wan = static_cast<unsigned>(gateway::PortId::kWan);
    client_.attach(network.satellite(), SatelliteLink::kA);
    server_.attach(network.satellite(), SatelliteLink::kB);
    network.satellite().connect(SatelliteLink::kA, at_a_, wan);
    network.satellite().connect(SatelliteLink::kB, at_b_, wan);
    server_.neighbours().learn(address(client_), client_.spec().addresses.mac);
    client_.neighbours().learn(address(server_), server_.spec().addresses.mac);
    server_.listen([this](const SocketPair&) {
      return SimHost::Reception{responder(100, 100'000'000'000), &served_};
    });
    client_outcome_.peer = &served_;
    served_.peer = &client_outcome_;
  }
  void start() {
    client_.connect({address(client_), address(server_), 50'000, 80}, requester(100),
                    client_outcome_);
  }
  std::uint64_t received() const { return client_outcome_.received; }

 private:
  static HostSpec host(Side side, std::uint64_t window) {
    HostSpec spec = make_host(side, 200, 7);
    spec.tcp.send_limit = spec.tcp.receive_limit = window;
    spec.tcp.window_scale = 10;
    return spec;
  }
  static IpAddress address(const SimHost& host) { return host.spec().addresses.v4; }
  Outcome client_outcome_, served_;
  SimHost server_, client_;
  Junction at_a_, at_b_;
};

struct Shares {
  double ours = 0, other = 0;  // payload received, of the link's rate
};

enum class First : std::uint8_t { kOurs, kOther };

// From 60 s on, for `time`.
Shares beside(First first, double loss, std::uint64_t window, Duration time) {
  const BitRate rate = megabit(50);
  Scenario scenario = found_link(rate);
  scenario.b_to_a.loss = loss;
  scenario.b_to_a.queue = rate.bytes_in(kRoundTrip);
  add_download(scenario);
  Modem modem(scenario);
  Rival rival(modem.network, modem.tracer, window);
  const Instant when = kStart + (first == First::kOurs ? Duration::seconds(10) : Duration());
  if (first == First::kOther) {
    modem.network.loop().run_until(Instant() + Duration::seconds(1));
  } else {
    modem.network.loop().run_until(when);
  }
  rival.start();
  const auto ours = [&] { return modem.network.flow(0).client.received; };
  modem.network.loop().run_until(when + Duration::seconds(60));
  const std::uint64_t ours_before = ours(), other_before = rival.received();
  modem.network.run_for(time);
  const auto all = static_cast<double>(rate.bytes_in(time).value());
  return {.ours = static_cast<double>(ours() - ours_before) / all,
          .other = static_cast<double>(rival.received() - other_before) / all};
}

constexpr std::uint64_t kAnyWindow = 16 << 20;

TEST(Find, BesideCubicEachHasAThirdAtLeast) {
  for (const First first : {First::kOurs, First::kOther}) {
    const Shares shares = beside(first, 0, kAnyWindow, Duration::seconds(60));
    const double share = shares.ours / (shares.ours + shares.other);
    std::printf("  beside CUBIC, %s first: %.3f to %.3f, that is %.3f of both\n",
                first == First::kOurs ? "we" : "it", shares.ours, shares.other, share);
    EXPECT_GT(share, 1.0 / 3);
    EXPECT_LT(share, 2.0 / 3);
    EXPECT_GT(shares.ours + shares.other, 0.8);
  }
}

TEST(Find, WhatTheOtherCannotUseIsNotLeft) {
  const Shares alone = beside(First::kOurs, 0.01, 1, Duration::seconds(20));
  const Shares lossy = beside(First::kOurs, 0.01, kAnyWindow, Duration::seconds(30));
  const Shares narrow = beside(First::kOurs, 0, 300'000, Duration::seconds(30));
  std::printf("  alone %.3f, beside CUBIC at 1%% loss %.3f to %.3f, beside a window %.3f to %.3f\n",
              alone.ours, lossy.ours, lossy.other, narrow.ours, narrow.other);
  EXPECT_GT(lossy.ours, alone.ours * 0.8);
  EXPECT_GT(narrow.ours, alone.ours * 0.8);
}

}  // namespace
}  // namespace satrelay::sim::find_test
