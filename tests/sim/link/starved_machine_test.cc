// Gateways that their machine does not run for a while, or with a port that overflows meanwhile.
// The tests measure what that costs, and that the sender does not take it for a fade of the link.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>

#include "relay/sim/checks/checks.h"
#include "relay/sim/network/network.h"
#include "relay/sim/scenarios/plans.h"
#include "relay/sim/scenarios/scenario.h"
#include "tests/sim/measurements.h"

namespace satrelay::sim::starved_machine_test {
namespace {

constexpr BitRate kGigabit = BitRate::bits_per_second(1'000'000'000);
constexpr Duration kRoundTrip = Duration::milliseconds(550);
constexpr Duration kPause = Duration::milliseconds(50);
constexpr std::uint64_t kBytes = 400'000'000;
constexpr Instant kStart = Instant::from_nanoseconds(5'000'000'000);

// A download from B to A that takes 3.4 s at the link's rate.
Scenario download(std::uint64_t seed, double loss = 0) {
  LinkSpec link;
  link.rate = kGigabit;
  link.one_way_delay = kRoundTrip / 2;
  link.loss = loss;
  Scenario scenario = make_lab(seed, link);
  for (Station& station : scenario.stations) {
    station.cable.rate = kGigabit.scaled(10, 1);
    station.hosts[0].tcp.send_limit = 8 << 20;
    station.hosts[0].tcp.receive_limit = 8 << 20;
    station.hosts[0].tcp.window_scale = 9;
  }
  add_flow(scenario, Side::kA, requester(100), responder(100, kBytes));
  return scenario;
}

struct Result {
  Duration time;
  BitRate least;     // Lowest rate allowed after the start.
  Duration lowered;  // Time during which the rate was below nine tenths.
  std::uint64_t missed = 0;
  stp::Counters sender;
};

Result measure(const Scenario& scenario) {
  Tracer tracer;
  Network network(scenario, tracer);
  Result result;
  result.least = kGigabit;
  const Duration step = Duration::milliseconds(10);
  while (!network.flow(0).over() && network.loop().now() < kStart + Duration::seconds(60)) {
    network.run_for(step);
    if (network.loop().now() < kStart) continue;
    const BitRate rate = network.gateway(Side::kB).engine().peers().at(0).send_rate;
    EXPECT_LE(rate, kGigabit.scaled(995, 1000));
    result.least = std::min(result.least, rate);
    if (rate < kGigabit.scaled(9, 10)) result.lowered = result.lowered + step;
  }
  for (const std::string& broken : check_flows(network)) ADD_FAILURE() << broken;
  const Outcome& client = network.flow(0).client;
  result.time = client.saw_end_at - client.started_at;
  result.missed = network.gateway(Side::kA).missed(gateway::PortId::kWan);
  result.sender = network.gateway(Side::kB).engine().peers().at(0).counters;
  return result;
}

void print(const std::string& what, const Result& r) {
  std::printf(
      "  %-44s %6.3f s, least %5.1f Mbit/s, below 90%% for %4lld ms, missed %6llu, lost %6llu\n",
      what.c_str(), r.time.to_seconds(), static_cast<double>(r.least.to_bits_per_second()) / 1e6,
      static_cast<long long>(r.lowered.to_milliseconds()),
      static_cast<unsigned long long>(r.missed),
      static_cast<unsigned long long>(r.sender.packets_lost));
}

constexpr const char* kSection = "A gateway that is not run";

// The document's column for a side and a ring. The sender has the same column for both rings.
std::size_t column_of(Side side, std::size_t ring) {
  return side == Side::kB ? 4 : ring == 2048 ? 2 : 3;
}

double seconds_more(const Result& result, const Result& usual) {
  return (result.time - usual.time).to_seconds();
}

const char* name_of(Side side) { return side == Side::kA ? "receiver" : "sender"; }

Result undisturbed(double loss = 0) {
  const Result result = measure(download(1, loss));
  print("undisturbed", result);
  return result;
}

constexpr std::size_t kRings[] = {2048, 8192};  // Frames in the ring of a device, and of AF_PACKET.

void expect_no_cut(const Result& result) {
  EXPECT_EQ(result.least, kGigabit.scaled(995, 1000));
  EXPECT_EQ(result.sender.rate_cuts_delay, 0U);
}

TEST(StarvedMachine, PausesCostNoMoreThanTheirLength) {
  for (const double loss : {0.0, 0.01}) {
    const Result usual = undisturbed(loss);
    for (const Side side : {Side::kA, Side::kB}) {
      for (const std::size_t ring : kRings) {
        Scenario scenario = download(1, loss);
        scenario.station(side).machine.ring = ring;
        for (int i = 0; i < 5; ++i) {
          scenario.station(side).machine.starvations.push_back(
              Starvation::pause(kStart + Duration::milliseconds(1500 + 300 * i), kPause));
        }
        const Result result = measure(scenario);
        print(std::string(name_of(side)) + " paused 5 x 50 ms, ring of " + std::to_string(ring),
              result);
        expect_documented(kSection, loss > 0 ? "the same, 1% loss" : "paused 50 ms five times",
                          column_of(side, ring), {seconds_more(result, usual)});
        expect_no_cut(result);
        // With loss, the losses in the last flight differ from run to run.
        EXPECT_LE(result.time,
                  usual.time + kPause * 5 + (loss > 0 ? kRoundTrip : Duration::zero()));
      }
    }
  }
}

// The gateway runs for a fifth of each `period`. A period of 100 ms is how a program with long time
// slices leaves the processor; 10 ms is how two programs of equal priority do. Each frame takes 2
// us of the processor.
Scenario fifth_of_a_core(Side side, std::size_t ring, Duration period) {
  Scenario scenario = download(1);
  MachineSpec& machine = scenario.station(side).machine;
  machine.ring = ring;
  machine.frame_time = Duration::microseconds(2);
  machine.starvations.push_back(
      {kStart + Duration::milliseconds(1500), Duration::seconds(2), period, period / 5});
  return scenario;
}
constexpr Duration kAway = Duration::milliseconds(1600);

TEST(StarvedMachine, AFifthOfACoreCostsNoMoreThanTheOtherFour) {
  const Result usual = undisturbed();
  for (const Side side : {Side::kA, Side::kB}) {
    for (const std::size_t ring : kRings) {
      for (const Duration period : {Duration::milliseconds(100), Duration::milliseconds(10)}) {
        const Result result = measure(fifth_of_a_core(side, ring, period));
        print(std::string(name_of(side)) + " has 20% of " +
                  std::to_string(period.to_milliseconds()) + " ms, ring of " + std::to_string(ring),
              result);
        const bool slices = period == Duration::milliseconds(100);
        expect_documented(kSection,
                          slices ? "for 2 s 20 ms of each 100 ms" : "for 2 s 2 ms of each",
                          column_of(side, ring), {seconds_more(result, usual)});
        expect_no_cut(result);
        EXPECT_LE(result.time, usual.time + kAway);
      }
    }
  }
}

TEST(StarvedMachine, ARingThatOverflowsCostsNoMoreThanThePause) {
  const Result usual = undisturbed();
  const Duration pause = Duration::milliseconds(300);
  for (const std::size_t ring : {64U, 512U, 2048U}) {
    Scenario scenario = download(1);
    scenario.station(Side::kA).machine.ring = ring;
    scenario.station(Side::kA).machine.starvations.push_back(
        Starvation::pause(kStart + Duration::milliseconds(1500), pause));
    const Result result = measure(scenario);
    print("receiver paused 300 ms, ring of " + std::to_string(ring), result);
    EXPECT_GT(result.missed, 20'000U);
    EXPECT_EQ(result.sender.packets_lost_at_peer, result.missed);
    EXPECT_EQ(result.sender.packets_lost, result.missed);
    expect_no_cut(result);
    EXPECT_LE(result.time, usual.time + pause);
  }
}

// For comparison with the two tests above: a receiver that cannot tell why its packets were late or
// lost.
TEST(StarvedMachine, IsTakenForAFadeIfItCannotTell) {
  Scenario scenario = fifth_of_a_core(Side::kA, 2048, Duration::milliseconds(10));
  scenario.station(Side::kA).machine.insight = Insight::kNothing;
  const Result result = measure(scenario);
  print("receiver has 20% of 10 ms, and does not tell", result);
  EXPECT_GT(result.sender.rate_cuts_delay, 0U);
  EXPECT_EQ(result.sender.packets_lost_at_peer, 0U);
  EXPECT_GT(result.lowered, kRoundTrip * 2);
}

// The machine's gateway learns only afterwards how many frames found no room.
TEST(StarvedMachine, ACutIsTakenBackWhenItsCauseIsLearned) {
  const Result usual = undisturbed();
  for (const std::size_t ring : kRings) {
    Scenario scenario = fifth_of_a_core(Side::kA, ring, Duration::milliseconds(10));
    scenario.station(Side::kA).machine.insight = Insight::kMissed;
    const Result result = measure(scenario);
    print("the same, tells what was missed, ring of " + std::to_string(ring), result);
    EXPECT_GT(result.sender.rate_cuts_delay, 0U);
    EXPECT_LT(result.lowered, kRoundTrip * 2);
    EXPECT_LE(result.time, usual.time + kAway);
  }
}

// The link fades to a tenth, and the receiver is late now and then, or very often.
struct Fade {
  explicit Fade(const MachineSpec& machine) {
    LinkSpec link;
    link.rate = kHigh;
    link.one_way_delay = kRoundTrip / 2;
    Scenario scenario = make_lab(1, link);
    scenario.station(Side::kA).machine = machine;
    add_flow(scenario, Side::kA, requester(100), responder(100, 500'000'000));
    network.emplace(scenario, tracer);
    network->satellite().on_frame([this](unsigned from, ConstBytes frame) {
      if (from == SatelliteLink::kB) sent += frame.size() - 14 + config::kOverheadEthernet;
      worst = std::max(worst, network->satellite().from_b().queue_delay(network->loop().now()));
    });
    network->run_for(Duration::seconds(8));
    network->satellite().from_b().set_rate(kLow);
  }
  BitRate rate() { return network->gateway(Side::kB).engine().peers().at(0).send_rate; }
  double share(Duration time) {
    const std::uint64_t before = sent;
    worst = Duration::zero();
    network->run_for(time);
    return static_cast<double>(sent - before) / static_cast<double>(kLow.bytes_in(time).value());
  }
  static constexpr BitRate kHigh = BitRate::bits_per_second(20'000'000);
  static constexpr BitRate kLow = BitRate::bits_per_second(2'000'000);
  Tracer tracer;
  std::optional<Network> network;
  std::uint64_t sent = 0;
  Duration worst;
};

TEST(StarvedMachine, AFadeIsFoundAllTheSame) {
  struct Case {
    const char* what;
    Duration period, runs;
    Duration queue;  // Longest queue that may be left.
  };
  const auto ms = [](std::int64_t n) { return Duration::milliseconds(n); };
  // A receiver that is late cannot show a queue that is shorter than its lateness.
  for (const Case& c : {Case{"late by 3 ms at most", ms(10), ms(7), ms(25)},
                        Case{"late by 20 ms now and then", ms(100), ms(80), ms(25)},
                        Case{"a fifth of a core", ms(10), ms(2), ms(25)},
                        Case{"a fifth of a core in long slices", ms(100), ms(20), ms(80)}}) {
    SCOPED_TRACE(c.what);
    MachineSpec machine;
    machine.starvations.push_back(
        {kStart + Duration::seconds(1), Duration::seconds(60), c.period, c.runs});
    Fade fade(machine);
    fade.network->run_for(kRoundTrip * 4);
    const double share = fade.share(Duration::seconds(5));
    std::printf("  %-34s %.3f of a tenth from 4 round trips on, queue up to %.1f ms\n", c.what,
                share, fade.worst.to_seconds() * 1e3);
    EXPECT_LT(fade.worst, c.queue);
    EXPECT_GT(share, 0.9);
  }
}

// The peer reports that it is always late, and that all losses are its own. That hides the fade for
// some seconds, and makes the sender send no more than is configured.
TEST(StarvedMachine, APeerThatFeignsItIsBelievedForAWhile) {
  MachineSpec machine;
  machine.insight = Insight::kFeigned;
  Fade fade(machine);
  Duration hidden;
  Duration time;
  for (const Duration step = Duration::milliseconds(100); time < Duration::seconds(20);) {
    fade.network->run_for(step);
    time = time + step;
    ASSERT_LE(fade.rate(), Fade::kHigh.scaled(995, 1000));
    if (fade.rate() > Fade::kLow.scaled(2, 1)) hidden = time;
  }
  std::printf("  a feigned machine hides a fade for %.1f s\n", hidden.to_seconds());
  EXPECT_GT(hidden, kRoundTrip * 4);
  EXPECT_LT(hidden, Duration::seconds(10));
  EXPECT_GT(fade.share(Duration::seconds(5)), 0.8);
  EXPECT_LT(fade.worst, Duration::milliseconds(25));
}

}  // namespace
}  // namespace satrelay::sim::starved_machine_test
