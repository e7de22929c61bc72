// Repairs restore the last packets of a transfer, so no loss there costs a round trip. The tests
// run in virtual time, so the figures are exact and repeat.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "pep/stp/wire/packet.h"
#include "relay/sim/checks/checks.h"
#include "relay/sim/network/network.h"
#include "relay/sim/scenarios/plans.h"
#include "relay/sim/scenarios/scenario.h"
#include "tests/sim/measurements.h"

namespace satrelay::sim::last_flight_test {
namespace {

constexpr double kStpHeaders = stp::kHeaderSize + stp::kTrailerSize + 1 + 1 + 4;
constexpr double kPayloadShare = (1500 - 28 - kStpHeaders) / (1500 + config::kOverheadEthernet);
constexpr std::uint64_t kSeeds = 3;

struct Case {
  std::string name;
  std::uint64_t bytes = 20'000'000;
  double loss = 0;
  double burst = 1;
  std::uint64_t rate = 50'000'000;
  Duration one_way = Duration::milliseconds(275);
  std::uint64_t lan_rate = 1'000'000'000;
  std::size_t flows = 1;
  bool kept = false;  // The server does not close.
};

struct Measured {
  double seconds = 0;
  double bound = 0;
  std::uint64_t repairs = 0;
  std::uint64_t used = 0;
  std::uint64_t lost = 0;  // Lost and retransmitted.
  double share() const { return bound / seconds; }
};

Measured measure(const Case& c, std::uint64_t seed) {
  LinkSpec link;
  link.loss = c.burst > 1 ? 0 : c.loss;
  link.rate = BitRate::bits_per_second(c.rate);
  link.one_way_delay = c.one_way;
  Scenario scenario = make_lab(seed, link, 1);
  if (c.burst > 1) {
    config::GilbertElliott bursts;
    bursts.bad_to_good = 1 / c.burst;
    bursts.good_to_bad = c.loss / (1 - c.loss) / c.burst;
    scenario.a_to_b.gilbert_elliott = scenario.b_to_a.gilbert_elliott = bursts;
  }
  for (Station& station : scenario.stations) {
    station.cable.rate = BitRate::bits_per_second(c.lan_rate);
    station.hosts[0].tcp.send_limit = 4 << 20;
    station.hosts[0].tcp.receive_limit = 4 << 20;
  }
  for (std::size_t i = 0; i < c.flows; ++i) {
    FlowSpec& flow = add_flow(scenario, Side::kA, requester(100), responder(100, c.bytes));
    if (!c.kept) continue;
    flow.client_plan.finish = Finish::kAbortWhenReceived;
    flow.client_plan.abort_at = c.bytes;
    flow.server_plan.finish = Finish::kWhenPeerFinished;
  }
  Tracer tracer;
  Network network(scenario, tracer);
  EXPECT_TRUE(network.run_until_flows_over(Instant() + Duration::seconds(600)));
  for (const std::string& broken : check_flows(network)) ADD_FAILURE() << broken;
  Measured measured;
  for (std::size_t i = 0; i < c.flows; ++i) {
    const Outcome& client = network.flow(i).client;
    const Instant end = c.kept ? client.ended_at : client.saw_end_at;
    measured.seconds = std::max(measured.seconds, (end - client.started_at).to_seconds());
  }
  measured.bound =
      2 * c.one_way.to_seconds() + static_cast<double>(c.bytes * c.flows) * 8 /
                                       (static_cast<double>(c.rate) * (1 - c.loss) * kPayloadShare);
  const stp::Counters sent = network.gateway(Side::kB).engine().peers().front().counters;
  const stp::Counters received = network.gateway(Side::kA).engine().peers().front().counters;
  measured.lost = sent.packets_lost;
  measured.repairs = sent.repair_packets_out;
  measured.used = received.repair_used;
  return measured;
}

Measured worst(const Case& c) {
  Measured slowest;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const Measured measured = measure(c, seed);
    std::printf(
        "  %-28s seed %llu  %7.3f s, bound %7.3f: %5.1f%%, %4llu repairs, %4llu used, %4llu lost\n",
        c.name.c_str(), static_cast<unsigned long long>(seed), measured.seconds, measured.bound,
        measured.share() * 100, static_cast<unsigned long long>(measured.repairs),
        static_cast<unsigned long long>(measured.used),
        static_cast<unsigned long long>(measured.lost));
    if (measured.seconds > slowest.seconds) slowest = measured;
  }
  return slowest;
}

constexpr const char* kSection = "A file over GEO: 50 Mbit/s, 550 ms";

// Expects a share of the payload bound, and the figure in docs/measurements.md.
void expect_share(const Case& c, double least, const std::string& row) {
  const double share = worst(c).share();
  EXPECT_GE(share, least);
  expect_documented(kSection, row, 1, {share * 100});
}

TEST(LastFlight, OfTwentyMegabytes) {
  expect_share({.name = "20 MB"}, 0.995, "20 MB, no loss |");
  expect_share({.name = "20 MB, 1%", .loss = 0.01}, 0.985, "20 MB, 1% |");
  expect_share({.name = "20 MB, 5%", .loss = 0.05}, 0.97, "20 MB, 5% |");
  expect_share({.name = "20 MB, 1% in bursts of 10", .loss = 0.01, .burst = 10}, 0.96,
               "20 MB, 1% in bursts of 10 |");
}

// Repairs of a window that loses more packets than it has repairs must still restore some of them.
// Otherwise the last bytes arrive a round trip later.
TEST(LastFlight, OfTwentyMegabytesAtHardLoss) {
  expect_share({.name = "20 MB, 10%", .loss = 0.1}, 0.97, "20 MB, 10% |");
  expect_share({.name = "20 MB, 20%", .loss = 0.2}, 0.95, "20 MB, 20% |");
}

// The whole flow leaves before the first report, so the sender does not know the loss.
TEST(LastFlight, OfLessThanARoundTripAtALossThatNobodyKnows) {
  expect_share({.name = "3 MB, 5%, 600 ms",
                .bytes = 3'000'000,
                .loss = 0.05,
                .one_way = Duration::milliseconds(300)},
               0.97, "3 MB, 5%, the first flow |");
}

TEST(LastFlight, OfAHundredMegabytes) {
  expect_share({.name = "100 MB, 1%", .bytes = 100'000'000, .loss = 0.01}, 0.99, "100 MB, 1% |");
}

TEST(LastFlight, OfAConnectionThatIsKept) {
  expect_share({.name = "20 MB, 1%, kept", .loss = 0.01, .kept = true}, 0.975,
               "20 MB, 1%, a connection that is kept |");
}

TEST(LastFlight, OfManyFlows) {
  const Measured twenty =
      worst({.name = "20 x 1 MB, 1%", .bytes = 1'000'000, .loss = 0.01, .flows = 20});
  EXPECT_LE(twenty.seconds, twenty.bound + 0.04);
  expect_documented(kSection, "20 flows of 1 MB at once, 1%", 1,
                    {(twenty.seconds - twenty.bound) * 1e3});
}

TEST(LastFlight, OfAGigabit) {
  expect_share({.name = "500 MB, 1 Gbit/s, 1%",
                .bytes = 500'000'000,
                .loss = 0.01,
                .rate = 1'000'000'000,
                .lan_rate = 10'000'000'000},
               0.97, "500 MB over 1 Gbit/s, 1%");
}

// Mean and 99th percentile of many seeds, compared with the time without loss.
void compare(Case c, std::size_t seeds, const std::string& row) {
  const double clean = measure(c, 1).seconds;
  c.loss = 0.01;
  std::vector<double> times;
  double sum = 0;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    times.push_back(measure(c, seed).seconds);
    sum += times.back();
  }
  std::ranges::sort(times);
  const double mean = sum / static_cast<double>(seeds);
  const double p99 = times[(seeds * 99 + 99) / 100 - 1];
  std::printf("  %-28s no loss %.3f s, mean %.3f (%+.1f%%), p99 %.3f (%+.1f%%)\n", c.name.c_str(),
              clean, mean, (mean / clean - 1) * 100, p99, (p99 / clean - 1) * 100);
  expect_documented(kSection, row, 1, {(mean / clean - 1) * 100, (p99 / clean - 1) * 100});
  EXPECT_LE(mean, clean * 1.02);
  EXPECT_LE(p99, clean * 1.05);
}

TEST(LastFlight, OverTwoSatellites) {
  const Case file{.name = "", .rate = 51'000'000, .one_way = Duration::milliseconds(389)};
  Case small = file, large = file;
  small.name = "3 MB, 51 Mbit/s, 778 ms";
  small.bytes = 3'000'000;
  large.name = "18.5 MB, 51 Mbit/s, 778 ms";
  large.bytes = 18'500'000;
  compare(small, 100, "3 MB over 51 Mbit/s, 778 ms, 1%, 100 seeds");
  compare(large, 100, "18.5 MB, the same");
}

}  // namespace
}  // namespace satrelay::sim::last_flight_test
