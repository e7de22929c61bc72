// The path carries less than the ports do, or suddenly does.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <optional>

#include "relay/sim/checks.h"
#include "relay/sim/network.h"
#include "relay/sim/plans.h"
#include "relay/sim/scenario.h"

namespace satrelay::sim::path_mtu_test {
namespace {

constexpr Duration kRoundTrip = Duration::milliseconds(550);

class PathMtu : public ::testing::Test {
 protected:
  void start(std::uint64_t seed, std::uint16_t link_mtu, double loss, std::uint64_t bytes,
             config::PathMtu knowledge = config::PathMtu::kDiscover) {
    LinkSpec link;
    link.one_way_delay = kRoundTrip / 2;
    link.loss = loss;
    Scenario scenario = make_lab(seed, link);
    scenario.a_to_b.mtu = scenario.b_to_a.mtu = link_mtu;
    scenario.stp.path_mtu = knowledge;
    add_flow(scenario, Side::kA, requester(100), responder(100, bytes));
    network.emplace(scenario, tracer);
    ASSERT_TRUE(network->run_until_peers_alive(Instant() + Duration::seconds(4)));
  }
  gateway::PeerSnapshot sending_side() { return network->gateway(Side::kB).engine().peers().at(0); }
  void finish() {
    ASSERT_TRUE(network->run_until_flows_over(Instant() + Duration::seconds(120)));
    for (const std::string& broken : check_flows(*network)) ADD_FAILURE() << broken;
  }
  Tracer tracer;
  std::optional<Network> network;
};

TEST_F(PathMtu, IsTheLargestOneRoundTripAfterTheHandshake) {
  start(1, 0, 0, 100'000);
  network->run_for(kRoundTrip + Duration::milliseconds(10));
  EXPECT_EQ(sending_side().path_mtu, 1500);
  EXPECT_EQ(sending_side().counters.mtu_probes, 1U);
  finish();
}

TEST_F(PathMtu, IsTheLargestAtOnceWhereItIsKnown) {
  start(1, 0, 0, 100'000, config::PathMtu::kKnown);
  EXPECT_EQ(sending_side().path_mtu, 1500);
  network->run_for(kRoundTrip);
  EXPECT_EQ(sending_side().counters.mtu_probes, 0U);
  finish();
}

TEST_F(PathMtu, IsFoundWhereTheLinkCarriesLess) {
  for (const unsigned link_mtu : {1200U, 1280U, 1300U, 1420U, 1492U}) {
    start(2, static_cast<std::uint16_t>(link_mtu), 0, 2'000'000);
    network->run_for(Duration::seconds(12));
    const gateway::PeerSnapshot peer = sending_side();
    EXPECT_LE(peer.path_mtu, link_mtu);
    EXPECT_GT(peer.path_mtu.value_or(0) + 8U, link_mtu);
    EXPECT_GT(peer.counters.mtu_probes_lost, 0U);
    EXPECT_EQ(peer.counters.packets_lost, 0U) << "a probe is no loss of the link";
    EXPECT_EQ(peer.counters.mtu_black_holes, 0U);
    finish();
  }
}

TEST_F(PathMtu, IsFoundSoonOnALinkThatLosesPackets) {
  Duration longest;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    start(seed, 0, 0.1, 100'000);
    const Instant alive = network->loop().now();
    while (sending_side().path_mtu < 1500 &&
           network->loop().now() < alive + Duration::seconds(60)) {
      network->run_for(Duration::milliseconds(10));
    }
    longest = std::max(longest, network->loop().now() - alive);
  }
  std::printf("  10%% loss: at 1500 after %.2f s at most\n", longest.to_seconds());
  EXPECT_LT(longest, Duration::seconds(8));
}

TEST_F(PathMtu, ABlackHoleInMidFlowIsLeft) {
  for (const std::uint64_t seed : {1U, 2U, 3U}) {
    start(seed, 0, seed == 1 ? 0 : 0.01, 20'000'000);
    network->run_for(Duration::seconds(7) - (network->loop().now() - Instant()));
    ASSERT_GT(network->flow(0).client.received, 1'000'000U);
    network->satellite().from_b().set_mtu(1300);
    const Instant began = network->loop().now();
    while (sending_side().counters.mtu_black_holes == 0 &&
           network->loop().now() < began + Duration::seconds(60)) {
      network->run_for(Duration::milliseconds(10));
    }
    const Duration found = network->loop().now() - began;
    std::printf("  black hole found after %.2f s\n", found.to_seconds());
    EXPECT_LT(found, Duration::seconds(6));
    finish();
    EXPECT_LE(sending_side().path_mtu, 1300);
    EXPECT_EQ(sending_side().counters.mtu_black_holes, 1U);
  }
}

TEST_F(PathMtu, AnOutageIsNoBlackHole) {
  start(3, 0, 0.01, 20'000'000);
  network->run_for(Duration::seconds(6));
  network->satellite().set_outage(true);
  network->run_for(Duration::seconds(10));
  network->satellite().set_outage(false);
  finish();
  EXPECT_EQ(sending_side().counters.mtu_black_holes, 0U);
  EXPECT_EQ(sending_side().path_mtu, 1500);
}

}  // namespace
}  // namespace satrelay::sim::path_mtu_test
