// Gateways never send more than their link carries (relay/sim/network/link_meter.h), whatever
// happens to their threads, links and rates. The tests are a program of their own, since they need
// little code.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdio>
#include <string>

#include "pep/base/random.h"
#include "relay/sim/network/network.h"
#include "relay/sim/scenarios/plans.h"
#include "relay/sim/scenarios/scenario.h"

namespace satrelay::sim::link_limit_test {
namespace {

constexpr Instant kStart = Instant::from_nanoseconds(5'000'000'000);

// Some hosts at A send little all the time. At `rises` others begin to send all they can.
Scenario rising_load(unsigned workers, BitRate rate, Instant rises) {
  Scenario scenario = make_lab(1, {.rate = rate, .one_way_delay = Duration::milliseconds(50)});
  scenario.stations[0].workers = workers;
  for (int i = 0; i < 16; ++i) {
    add_flow(scenario, Side::kA, typist(2'000'000, 1'000, Duration::milliseconds(40)), receiver())
        .start = kStart + Duration::milliseconds(3 * i);
  }
  for (int i = 0; i < 12; ++i) {
    add_flow(scenario, Side::kA, sender(4'000'000), receiver()).start = rises;
  }
  return scenario;
}

// The first worker divides the link. While the queues are empty, the shares that it grants sum to
// more than the link. The other workers may not use these shares for as long as the first worker is
// away.
TEST(LinkLimit, HoldsWhileTheFirstWorkerIsStarvedAndLoadRises) {
  for (const unsigned workers : {2U, 8U}) {
    for (const double mbit : {5.0, 50.0, 400.0}) {
      const BitRate rate = BitRate::bits_per_second(static_cast<std::uint64_t>(mbit * 1e6));
      for (const int away_ms : {10, 100, 500}) {
        const Instant rises = kStart + Duration::seconds(2);
        Tracer tracer;
        Network network(rising_load(workers, rate, rises), tracer);
        network.loop().run_until(rises + Duration::milliseconds(1));
        GatewayNode& node = network.gateway(Side::kA);
        node.starve(0, network.loop().now() + Duration::milliseconds(away_ms));
        network.run_for(Duration::milliseconds(away_ms + 500));
        EXPECT_EQ(node.meter().worst(), "")
            << workers << " workers, " << mbit << " Mbit/s, away for " << away_ms << " ms";
      }
    }
  }
}

// How much of the link the second worker uses meanwhile.
TEST(LinkLimit, TheOthersGoOnWhileTheFirstWorkerIsStarved) {
  const BitRate rate = BitRate::bits_per_second(50'000'000);
  Tracer tracer;
  Network network(rising_load(2, rate, kStart), tracer);
  std::uint64_t sent = 0;
  network.satellite().on_frame([&](unsigned from, ConstBytes frame) {
    if (from == SatelliteLink::kA) sent += frame.size() - 14 + config::kOverheadEthernet;
  });
  network.loop().run_until(kStart + Duration::seconds(2));
  GatewayNode& node = network.gateway(Side::kA);
  const auto share_of = [&](Duration time) {
    sent = 0;
    network.run_for(time);
    return static_cast<double>(sent) / static_cast<double>(rate.bytes_in(time).value());
  };
  const double before = share_of(Duration::milliseconds(500));
  node.starve(0, network.loop().now() + Duration::milliseconds(500));
  const double meanwhile = share_of(Duration::milliseconds(500));
  network.run_for(Duration::milliseconds(50));
  const double after = share_of(Duration::milliseconds(500));
  std::printf("  of the link: %.3f, then %.3f without the first worker, then %.3f\n", before,
              meanwhile, after);
  EXPECT_GT(before, 0.97);
  EXPECT_GT(meanwhile, 0.3) << "what the second worker had";
  EXPECT_GT(after, 0.97);
  EXPECT_EQ(node.meter().worst(), "");
}

// The rate that the controller has found is the rate in force. Trains of packets measure it.
TEST(LinkLimit, HoldsWhileTheCapacityIsFound) {
  for (const double mbit : {2.0, 20.0, 100.0}) {
    const BitRate rate = BitRate::bits_per_second(static_cast<std::uint64_t>(mbit * 1e6));
    Scenario scenario = rising_load(1, rate, kStart + Duration::seconds(10));
    scenario.control.controller = config::Controller::kFind;
    Tracer tracer;
    Network network(scenario, tracer);
    network.loop().run_until(kStart + Duration::seconds(40));
    EXPECT_EQ(network.gateway(Side::kA).meter().worst(), "") << mbit << " Mbit/s";
  }
}

// The whole machine may stop between writing frames and sending them.
TEST(LinkLimit, HoldsOnAStarvedMachine) {
  for (const double mbit : {2.0, 20.0, 400.0}) {
    for (const int away_ms : {1, 5, 30, 200}) {
      const BitRate rate = BitRate::bits_per_second(static_cast<std::uint64_t>(mbit * 1e6));
      Scenario scenario = rising_load(1, rate, kStart);
      scenario.stations[0].machine.starvations = {{.when = kStart,
                                                   .length = Duration::seconds(4),
                                                   .period = Duration::milliseconds(away_ms),
                                                   .runs = Duration::microseconds(away_ms * 300)}};
      Tracer tracer;
      Network network(scenario, tracer);
      network.loop().run_until(kStart + Duration::seconds(5));
      EXPECT_EQ(network.gateway(Side::kA).meter().worst(), "")
          << mbit << " Mbit/s, away for " << away_ms << " ms";
    }
  }
}

// Any worker may be away, again and again.
TEST(LinkLimit, HoldsWhenWorkersComeAndGo) {
  Tracer tracer;
  Network network(rising_load(8, BitRate::bits_per_second(20'000'000), kStart), tracer);
  network.loop().run_until(kStart);
  GatewayNode& node = network.gateway(Side::kA);
  Random random(1);
  for (int i = 0; i < 300; ++i) {
    const auto worker = static_cast<unsigned>(random.chance(0.5) ? 0 : random.below(8));
    node.starve(worker, network.loop().now() + Duration::milliseconds(static_cast<std::int64_t>(
                                                   1 + random.below(60))));
    network.run_for(Duration::milliseconds(static_cast<std::int64_t>(random.below(30))));
  }
  EXPECT_EQ(node.meter().worst(), "");
}

}  // namespace
}  // namespace satrelay::sim::link_limit_test
