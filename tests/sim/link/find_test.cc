// `capacity: find` over whole gateways that know no rate, or a ceiling only. The tests measure how
// soon they use a link, how they follow a fade and its end, and what they leave to others on the
// same modem. The other sender is a TCP host that hangs on the link directly, beside the gateways.
// Each printed line names that host's congestion control.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "pep/wire/ethernet.h"
#include "relay/sim/network/network.h"
#include "relay/sim/scenarios/plans.h"
#include "relay/sim/scenarios/scenario.h"
#include "tests/sim/measurements.h"
#include "tests/sim/options.h"

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

// The modem at B, and what it carries. The bytes of a download enter the link there.
class Modem {
 public:
  explicit Modem(const Scenario& scenario) : network(scenario, tracer) {
    network.satellite().on_frame([this](unsigned from, ConstBytes) {
      if (from == SatelliteLink::kB) {
        worst = std::max(worst, way().queue_delay(network.loop().now()));
      }
    });
  }
  // Share of `rate` that the modem carries over `time`, from all senders together.
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
  Duration worst;  // Longest queue.
};

// The table of docs/measurements.md has a column for each of these.
constexpr const char* kSection = "Capacity that nobody told";
enum Column : std::uint8_t { kFind = 2, kFixedRate, kHpfp, kCubic };

void expect_row(const std::string& row, Column column, const std::vector<double>& figures) {
  expect_documented(kSection, row, column, figures);
}

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
    if (loss > 0) {
      expect_row("the same with 5% loss, 4th second, then", kFind, {share * 100, later * 100});
    } else {
      expect_row("50 Mbit/s GEO, in the 4th second", kFind, {share * 100});
      expect_row("then, for 20 s", kFind, {later * 100});
    }
    EXPECT_GT(share, 0.9);
    EXPECT_GT(later, 0.95);
  }
}

// A sender of few packets learns nothing about what it loses, since reports of the other direction
// are lost, too. Some runs take two seconds longer: 13 of 96 other seeds did.
TEST(Find, LossBothWaysIsNoCongestion) {
  int in_time = 0;
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
    in_time += share > 0.88 ? 1 : 0;
    EXPECT_GT(later, 0.95) << seed;
  }
  EXPECT_GE(in_time, 20);
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
  expect_row("1 Gbit/s GEO, in the 6th second", kFind, {share * 100});
  EXPECT_GT(share, 0.9);
}

constexpr Duration kFade = Duration::seconds(12), kReturn = Duration::seconds(27);

// The modem's queue holds 100 ms at the higher rate.
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

constexpr const char* kFadeRow = "60 to 9 Mbit/s unannounced";
constexpr const char* kQueueRow = "the longest queue then";
constexpr const char* kBackRow = "back at 60:";

TEST(Find, AFadeIsFoundAndItsEnd) {
  std::vector<double> lows, queues, backs;  // Without a ceiling, and with one.
  for (const std::uint64_t ceiling : {0, 60}) {
    Scenario scenario = fading_link();
    scenario.ceiling = megabit(ceiling);
    add_download(scenario);
    Modem modem(scenario);
    modem.run_until(kFade - Duration::seconds(4));
    const double before = modem.carried(megabit(60), Duration::seconds(4));
    // The first report that can show the step arrives one round trip after it.
    modem.run_until(kFade + kRoundTrip * 5);
    const double low = modem.carried(megabit(9), Duration::seconds(10));
    const double queue = modem.milliseconds();
    modem.run_until(kReturn + (ceiling > 0 ? Duration::seconds(2) : kRoundTrip * 6));
    const double back = modem.carried(megabit(60), Duration::seconds(5));
    std::printf(
        "  60 to 9 to 60 Mbit/s, ceiling %d: %.3f, then %.3f of 9 with a queue up to %.1f ms, "
        "then %.3f\n",
        static_cast<int>(ceiling), before, low, queue, back);
    lows.push_back(low * 100);
    queues.push_back(queue);
    backs.push_back(back * 100);
    EXPECT_GT(low, 0.95);
    EXPECT_LT(queue, 50);
    EXPECT_GT(back, 0.95);
  }
  expect_row(kFadeRow, kFind, lows);
  expect_row(kQueueRow, kFind, queues);
  expect_row(kBackRow, kFind, backs);
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
    const Column column = controller == config::Controller::kHpfp ? kHpfp : kFixedRate;
    expect_row(kFadeRow, column, {low * 100});
    expect_row(kQueueRow, column, {queue});
    expect_row(kBackRow, column, {95, seconds});
    EXPECT_LT(seconds, 8);
    EXPECT_GT(back, 0.95);
  }
}

// TCP from end to end without gateways, for comparison.
TEST(Find, CubicAloneInTheSameScenarios) {
  constexpr auto kCongestion = control::Congestion::kCubic;
  const auto direct = [](Scenario scenario) {
    scenario.gateways_present = false;
    for (Station& station : scenario.stations) {
      for (HostSpec& host : station.hosts) {
        host.tcp.congestion = kCongestion;
        host.tcp.send_limit = host.tcp.receive_limit = 16 << 20;
        host.tcp.window_scale = 10;
      }
    }
    add_download(scenario);
    return scenario;
  };
  const char* const name = name_of(kCongestion);
  double shares[2] = {};
  for (const double loss : {0.0, 0.05}) {
    Scenario scenario = found_link(megabit(50));
    scenario.b_to_a.loss = loss;
    Modem modem(direct(scenario));
    modem.run_until(Duration::seconds(3));
    const double share = modem.carried(megabit(50), Duration::seconds(1));
    const double later = modem.carried(megabit(50), Duration::seconds(20));
    shares[loss > 0 ? 1 : 0] = later;
    std::printf("  %s, 50 Mbit/s, loss %.2f: %.3f in the 4th second, then %.3f, queue %.0f ms\n",
                name, loss, share, later, modem.milliseconds());
    if (loss > 0) {
      expect_row("the same with 5% loss, 4th second, then", kCubic, {share * 100, later * 100});
    } else {
      expect_row("50 Mbit/s GEO, in the 4th second", kCubic, {share * 100});
      expect_row("then, for 20 s", kCubic, {later * 100});
    }
  }
  // NewReno adds one segment a round trip, and would have less than half of this link.
  EXPECT_GT(shares[0], 0.75);
  EXPECT_LT(shares[1], 0.1);
  Modem modem(direct(fading_link()));
  modem.run_until(kFade + kRoundTrip * 5);
  const double low = modem.carried(megabit(9), Duration::seconds(10));
  const double queue = modem.milliseconds();
  modem.run_until(kReturn + kRoundTrip * 6);
  const double back = modem.carried(megabit(60), Duration::seconds(5));
  std::printf("  %s, 60 to 9 to 60 Mbit/s: %.3f of 9 with a queue up to %.0f ms, then %.3f\n", name,
              low, queue, back);
  expect_row(kFadeRow, kCubic, {low * 100});
  expect_row(kQueueRow, kCubic, {queue});
  expect_row(kBackRow, kCubic, {back * 100});
  Modem orbit(direct(low_orbit()));
  orbit.run_until(Duration::seconds(5));
  const double share = orbit.carried(megabit(100), Duration::seconds(85));
  std::printf("  %s, LEO: %.3f, queue up to %.0f ms\n", name, share, orbit.milliseconds());
  expect_row("LEO, 100 Mbit/s, 85 s", kCubic, {share * 100, orbit.milliseconds()});
}

TEST(Find, HandoversAreNoCongestion) {
  Scenario scenario = low_orbit();
  add_download(scenario);
  Modem modem(scenario);
  modem.run_until(Duration::seconds(5));
  const double share = modem.carried(megabit(100), Duration::seconds(85));
  std::printf("  LEO: %.3f, queue up to %.1f ms\n", share, modem.milliseconds());
  expect_row("LEO, 100 Mbit/s, 85 s", kFind, {share * 100, modem.milliseconds()});
  EXPECT_GT(share, 0.95);
}

// --- beside others -----------------------------------------------------------------------------

// Hands frames for a host beside a gateway to that host, and all others to the gateway.
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

// A download from a host beside gateway B to a host beside gateway A.
class Rival {
 public:
  Rival(Network& network, Tracer& tracer, control::Congestion congestion, std::uint64_t window)
      : server_(network.loop(), network.frames(), tracer, host(Side::kB, congestion, window)),
        client_(network.loop(), network.frames(), tracer, host(Side::kA, congestion, window)),
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
  static HostSpec host(Side side, control::Congestion congestion, std::uint64_t window) {
    HostSpec spec = make_host(side, 200, 7);
    spec.tcp.congestion = congestion;
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
  double ours = 0, other = 0;  // Payload received, as shares of the link's rate.
  double part() const { return ours / (ours + other); }
  double both() const { return ours + other; }
};

enum class First : std::uint8_t { kOurs, kOther };

constexpr std::uint64_t kAnyWindow = 16 << 20;

// One flow through the gateways and one beside them, over 50 Mbit/s with a queue of one round trip.
struct Beside {
  First first = First::kOurs;
  Duration head_start = Duration::seconds(10);  // Lead of the first flow.
  control::Congestion congestion = control::Congestion::kCubic;
  double loss = 0;
  std::uint64_t window = kAnyWindow;
  // Measured interval, counted from the start of the second flow.
  Duration from = Duration::seconds(60), time = Duration::seconds(60);
  std::uint64_t seed = 1;
};

Shares run(const Beside& beside) {
  const BitRate rate = megabit(50);
  Scenario scenario = found_link(rate);
  scenario.seed = beside.seed;
  scenario.b_to_a.loss = beside.loss;
  scenario.b_to_a.queue = rate.bytes_in(kRoundTrip);
  add_download(scenario);
  const bool we_begin = beside.first == First::kOurs;
  // Each seed shifts the two flows against each other.
  const Duration shift = Duration::milliseconds(700) * static_cast<std::int64_t>(beside.seed - 1);
  const Instant second = kStart + beside.head_start + shift;
  scenario.flows[0].start = we_begin ? kStart : second;
  Modem modem(scenario);
  Rival rival(modem.network, modem.tracer, beside.congestion, beside.window);
  modem.network.loop().run_until(we_begin ? second : kStart);
  rival.start();
  const auto ours = [&] { return modem.network.flow(0).client.received; };
  modem.network.loop().run_until(second + beside.from);
  const std::uint64_t ours_before = ours(), other_before = rival.received();
  modem.network.run_for(beside.time);
  const auto all = static_cast<double>(rate.bytes_in(beside.time).value());
  const Shares shares = {.ours = static_cast<double>(ours() - ours_before) / all,
                         .other = static_cast<double>(rival.received() - other_before) / all};
  std::printf(
      "  %s first by %.0f s, %s at %.0f%% loss, seed %d, %.0f to %.0f s: %.3f to %.3f, "
      "%.3f of both\n",
      we_begin ? "ours" : "the other", beside.head_start.to_seconds(), name_of(beside.congestion),
      beside.loss * 100, static_cast<int>(beside.seed), beside.from.to_seconds(),
      (beside.from + beside.time).to_seconds(), shares.ours, shares.other, shares.part());
  return shares;
}

// The document's second table has all columns for the first seed. For two more seeds it has our
// part beside CUBIC.
void expect_beside(const std::string& row, const Shares& shares) {
  if (options().from == 2 || options().from == 3) {
    if (!row.starts_with("NewReno")) {
      expect_documented(kSection, row, options().from + 2, {shares.part() * 100});
    }
    return;
  }
  if (options().from != 1) return;
  expect_documented(kSection, row, 1, {shares.ours * 100});
  expect_documented(kSection, row, 2, {shares.other * 100});
  expect_documented(kSection, row, 3, {shares.part() * 100});
}

TEST(Find, BesideCubicEachHasAThirdAtLeast) {
  constexpr double kThird = 1.0 / 3;
  struct Case {
    Beside beside;
    double part;  // Least part of what both carry.
    const char* row;
  };
  const Case cases[] = {
      {{.first = First::kOurs}, kThird, "CUBIC, ours begins 10 s before"},
      {{.first = First::kOther, .head_start = Duration::seconds(4)},
       kThird,
       "CUBIC begins 4 s before ours"},
      {{.first = First::kOther}, kThird, "CUBIC begins 10 s before ours"},
      // CUBIC has run for 10 s, and fills the link and its queue when ours begins.
      {{.first = First::kOther, .from = Duration::zero()}, 0.4, "the same, from 0 to 60 s"},
  };
  for (const Case& one : cases) {
    Beside beside = one.beside;
    beside.seed = options().from;
    const Shares shares = run(beside);
    expect_beside(one.row, shares);
    EXPECT_GT(shares.part(), one.part);
    EXPECT_LT(shares.part(), 2 * kThird);
    // After a loss CUBIC needs a minute to grow back, however much ours leaves to it.
    EXPECT_GT(shares.both(), 0.65);
  }
}

// NewReno grows back more slowly after a loss.
TEST(Find, BesideNewRenoEachHasAThirdAtLeast) {
  for (const First first : {First::kOurs, First::kOther}) {
    const Shares shares =
        run({.first = first, .congestion = control::Congestion::kNewReno, .seed = options().from});
    expect_beside(first == First::kOurs ? "NewReno, ours begins 10 s before"
                                        : "NewReno begins 10 s before ours",
                  shares);
    EXPECT_GT(shares.part(), 1.0 / 3);
    EXPECT_LT(shares.part(), 2.0 / 3);
    EXPECT_GT(shares.both(), 0.8);
  }
}

TEST(Find, WhatTheOtherCannotUseIsNotLeft) {
  const Shares alone = run({.loss = 0.01, .window = 1, .time = Duration::seconds(20)});
  const Shares lossy = run({.loss = 0.01, .time = Duration::seconds(30)});
  const Shares narrow = run({.window = 300'000, .time = Duration::seconds(30)});
  const auto expect = [](const std::string& row, const Shares& shares) {
    expect_documented(kSection, row, 1, {shares.ours * 100});
    expect_documented(kSection, row, 2, {shares.other * 100});
  };
  char at_loss[64];
  std::snprintf(at_loss, sizeof at_loss, "CUBIC at 1%% loss; alone we have %.1f%%",
                alone.ours * 100);
  expect(at_loss, lossy);
  expect("CUBIC with a window of 300 kB", narrow);
  EXPECT_GT(lossy.ours, alone.ours * 0.8);
  EXPECT_GT(narrow.ours, alone.ours * 0.8);
}

}  // namespace
}  // namespace satrelay::sim::find_test
