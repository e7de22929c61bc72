// How the carrier is shared when many flows want it, in virtual time.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <vector>

#include "relay/sim/network/network.h"
#include "relay/sim/scenarios/plans.h"
#include "relay/sim/scenarios/scenario.h"

namespace satrelay::sim::schedule_test {
namespace {

constexpr Duration kInterval = Duration::seconds(5);
constexpr Instant kStart = Instant::from_nanoseconds(5'000'000'000);

// WINDS: 51 Mbit/s and a round trip of 778 ms.
Scenario winds(std::uint64_t seed, double loss, std::size_t hosts = 1) {
  LinkSpec link;
  link.rate = BitRate::bits_per_second(51'000'000);
  link.one_way_delay = Duration::milliseconds(389);
  link.loss = loss;
  return make_lab(seed, link, hosts);
}

// Jain's index of fairness: 1 if all shares are equal, 1/n if one flow has everything.
double jain(const std::vector<double>& shares) {
  double sum = 0, squares = 0;
  for (const double share : shares) {
    sum += share;
    squares += share * share;
  }
  return squares == 0 ? 0 : sum * sum / (static_cast<double>(shares.size()) * squares);
}

// The least index over intervals of 5 s in which all flows of one host were backlogged. It is
// computed from the bytes that the receiving application has read.
double least_jain(std::size_t flows, double loss, std::uint64_t seed) {
  constexpr int kIntervals = 3;
  Scenario scenario = winds(seed, loss);
  for (std::size_t i = 0; i < flows; ++i) {
    add_flow(scenario, Side::kA, sender(400'000'000 / flows), receiver());
  }
  Tracer tracer;
  Network network(scenario, tracer);
  // One round trip after the start, the feedback has returned for every flow.
  network.loop().run_until(kStart + Duration::seconds(2));
  std::vector<std::uint64_t> before(flows, 0);
  for (std::size_t i = 0; i < flows; ++i) before[i] = network.flow(i).server.received;
  double least = 1;
  for (int interval = 0; interval < kIntervals; ++interval) {
    network.run_for(kInterval);
    std::vector<double> shares;
    for (std::size_t i = 0; i < flows; ++i) {
      const std::uint64_t received = network.flow(i).server.received;
      EXPECT_LT(received, 400'000'000 / flows) << "not backlogged";
      shares.push_back(static_cast<double>(received - before[i]));
      before[i] = received;
    }
    least = std::min(least, jain(shares));
  }
  return least;
}

// Expects the mean index over `seeds` seeds to be high.
void expect_equal_shares(double loss, std::uint64_t seeds) {
  for (const std::size_t flows : {2U, 5U, 7U, 50U}) {
    double mean = 0;
    for (std::uint64_t seed = 11; seed < 11 + seeds; ++seed) {
      mean += least_jain(flows, loss, seed) / static_cast<double>(seeds);
    }
    std::printf("  51 Mbit/s, RTT 778 ms, loss %.0f%%, %2zu flows: Jain index %.5f\n", loss * 100,
                flows, mean);
    EXPECT_GE(mean, 0.99) << flows << " flows at loss " << loss;
  }
}

TEST(Schedule, BackloggedFlowsOfAHostGetEqualSharesInEveryFiveSeconds) {
  expect_equal_shares(0, 1);
}
// Bytes that are lost twice delay a flow's delivery by more than a round trip. That moves the index
// of a single seed by 0.01 up or down.
TEST(Schedule, BackloggedFlowsOfAHostGetEqualSharesDespiteLoss) { expect_equal_shares(0.01, 4); }

// The gateway that takes the SYN chooses the class, and the far gateway sends by the same weights.
TEST(Schedule, FlowsShareTheLinkByTheWeightsOfTheirClasses) {
  for (const bool download : {false, true}) {
    Scenario scenario = winds(14, 0);
    config::Rule heavy;
    heavy.match.port = {{81, 81}};
    heavy.traffic_class = "heavy";
    scenario.classes = {{.name = "heavy", .weight = 8}};
    scenario.rules = {heavy, {}};
    for (const std::uint16_t port : {std::uint16_t{80}, std::uint16_t{81}}) {
      FlowSpec& flow = download
                           ? add_flow(scenario, Side::kA, requester(100), responder(100, 1U << 30))
                           : add_flow(scenario, Side::kA, sender(1U << 30), receiver());
      flow.server_port = port;
    }
    Tracer tracer;
    Network network(scenario, tracer);
    const auto received = [&](std::size_t flow) {
      const FlowResult& result = network.flow(flow);
      return static_cast<double>((download ? result.client : result.server).received);
    };
    network.loop().run_until(kStart + Duration::seconds(4));
    const double light = received(0);
    const double heavier = received(1);
    network.run_for(kInterval);
    const double ratio = (received(1) - heavier) / (received(0) - light);
    EXPECT_NEAR(ratio, 8, 0.1) << (download ? "download" : "upload");
  }
}

// Time from the SYN to the last byte at the client.
double fetch_seconds(std::size_t bulk_flows) {
  Scenario scenario = winds(12, 0, 2);
  for (std::size_t i = 0; i < bulk_flows; ++i) {
    add_flow(scenario, Side::kA, requester(100), responder(100, 100'000'000));
  }
  FlowSpec& young = add_flow(scenario, Side::kA, requester(100), responder(100, 64'000));
  young.client_host = young.server_host = 1;
  young.start = kStart + Duration::seconds(4);
  Tracer tracer;
  Network network(scenario, tracer);
  network.loop().run_until(young.start + Duration::seconds(5));
  const Outcome& client = network.flow(bulk_flows).client;
  EXPECT_TRUE(client.saw_end);
  return (client.saw_end_at - client.started_at).to_seconds();
}

TEST(Schedule, AYoungFlowBesideTwentyLongOnesFeelsAnIdleLink) {
  const double idle = fetch_seconds(0);
  const double busy = fetch_seconds(20);
  std::printf("  64 KB: %.1f ms on an idle link, %.1f ms beside 20 long flows\n", idle * 1e3,
              busy * 1e3);
  EXPECT_LE(busy, idle + 0.010);
}

// Twenty long flows lose a second of the link. Then they have more to retransmit than a round trip
// holds.
TEST(Schedule, AYoungFlowDoesNotWaitForWhatAnOutageHasEaten) {
  Scenario scenario = winds(13, 0, 2);
  for (int i = 0; i < 20; ++i) add_flow(scenario, Side::kA, sender(100'000'000), receiver());
  scenario.outages.push_back({kStart + Duration::seconds(3), Duration::milliseconds(1'000)});
  FlowSpec& young = add_flow(scenario, Side::kA, sender(64'000), receiver());
  young.client_host = young.server_host = 1;
  // The lost packets are being retransmitted then.
  young.start = kStart + Duration::milliseconds(4'900);
  Tracer tracer;
  Network network(scenario, tracer);
  network.loop().run_until(young.start + Duration::seconds(5));
  const Outcome& server = network.flow(20).server;
  ASSERT_TRUE(server.saw_end);
  const double seconds = (server.saw_end_at - network.flow(20).client.started_at).to_seconds();
  std::printf("  64 KB one way after an outage: %.1f ms\n", seconds * 1e3);
  // One way, and 100 ms. The link needs 10 ms for 64 KB, and as long again at each end for the
  // shares of others.
  EXPECT_LE(seconds, 0.389 + 0.100);
}

}  // namespace
}  // namespace satrelay::sim::schedule_test
