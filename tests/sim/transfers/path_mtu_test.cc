// The path carries shorter packets than the ports do, from the start or from some moment on.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <optional>

#include "relay/sim/checks/checks.h"
#include "relay/sim/network/network.h"
#include "relay/sim/scenarios/plans.h"
#include "relay/sim/scenarios/scenario.h"

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

// The cost of a smaller MTU of the link for a download of 10 MiB at 20 Mbit/s.
struct Shrinking {
  std::uint16_t mtu = 1300;
  double loss = 0;
  Duration round_trip = Duration::milliseconds(600);
  Duration after = Duration::seconds(1);  // Since the start of the client; negative: before it.
  std::size_t flows = 1;
};
struct Cost {
  Duration found;  // Since the link's change, or the start of the flow.
  Duration longer;
  std::uint64_t black_holes = 0;
  std::uint16_t path_mtu = 0;
};

struct Download {
  explicit Download(const Shrinking& what, std::uint64_t seed) {
    LinkSpec link;
    link.rate = BitRate::bits_per_second(20'000'000);
    link.one_way_delay = what.round_trip / 2;
    link.loss = what.loss;
    Scenario scenario = make_lab(seed, link);
    scenario.stp.path_mtu = config::PathMtu::kDiscover;
    for (std::size_t i = 0; i < what.flows; ++i) {
      add_flow(scenario, Side::kA, requester(100), responder(100, (10U << 20) / what.flows));
    }
    network.emplace(scenario, tracer);
    network->loop().run_until(kStart + what.after);
  }
  gateway::PeerSnapshot sending_side() { return network->gateway(Side::kB).engine().peers().at(0); }
  bool found() { return sending_side().counters.mtu_black_holes > 0; }
  Instant end() {
    EXPECT_TRUE(network->run_until_flows_over(kStart + Duration::seconds(120)));
    for (const std::string& broken : check_flows(*network)) ADD_FAILURE() << broken;
    Instant last;
    for (std::size_t i = 0; i < network->flow_count(); ++i) {
      last = std::max(last, network->flow(i).client.saw_end_at);
    }
    return last;
  }
  static constexpr Instant kStart = Instant() + Duration::seconds(5);
  Tracer tracer;
  std::optional<Network> network;
};

Cost cost_of(const Shrinking& what, std::uint64_t seed = 1) {
  const Instant usual = Download(what, seed).end();
  Download run(what, seed);
  run.network->satellite().from_b().set_mtu(what.mtu);
  const Instant began = std::max(run.network->loop().now(), Download::kStart);
  run.network->loop().run_until(began);
  while (!run.found() && run.network->loop().now() < began + Duration::seconds(60)) {
    run.network->run_for(Duration::milliseconds(5));
  }
  Cost cost;
  cost.found = run.network->loop().now() - began;
  cost.longer = run.end() - usual;
  cost.black_holes = run.sending_side().counters.mtu_black_holes;
  cost.path_mtu = run.sending_side().path_mtu.value_or(0);
  std::printf(
      "  to %d, loss %.0f%%, round trip %.0f ms, at %.1f s, %d flows: found %.2f, +%.2f s\n",
      static_cast<int>(what.mtu), what.loss * 100, what.round_trip.to_seconds() * 1e3,
      what.after.to_seconds(), static_cast<int>(what.flows), cost.found.to_seconds(),
      cost.longer.to_seconds());
  return cost;
}

// Time until a report counts as late. The other parts are a round trip until no report comes, and a
// round trip until the answer to the probe.
constexpr Duration kNotice = Duration::milliseconds(250);
// The rest of the file takes longer in smaller packets.
constexpr Duration kSmallerPackets = Duration::milliseconds(10);

TEST_F(PathMtu, ABlackHoleInMidFlowIsLeftAfterTwoRoundTripsAndALateReport) {
  for (const double loss : {0.0, 0.01}) {
    for (const unsigned mtu : {1400U, 1300U, 1280U}) {
      const Shrinking what{.mtu = static_cast<std::uint16_t>(mtu), .loss = loss};
      const Cost cost = cost_of(what);
      EXPECT_LT(cost.found, what.round_trip * 2 + kNotice);
      EXPECT_LT(cost.longer, Duration::milliseconds(2'000));
      EXPECT_EQ(cost.black_holes, 1U);
      EXPECT_LE(cost.path_mtu, mtu);
      EXPECT_GT(cost.path_mtu + 8U, mtu);
    }
  }
}

TEST_F(PathMtu, ABlackHoleIsLeftOnPathsOfAnyLengthAndByManyFlows) {
  for (const std::int64_t ms : {50, 250, 1200}) {
    const Shrinking what{.round_trip = Duration::milliseconds(ms)};
    const Cost cost = cost_of(what);
    EXPECT_LT(cost.found, what.round_trip * 2 + kNotice);
    EXPECT_LT(cost.longer, what.round_trip * 2 + kNotice + kSmallerPackets);
  }
  EXPECT_LT(cost_of({.loss = 0.01, .flows = 50}).longer, Duration::milliseconds(1'500));
  EXPECT_LT(cost_of({.loss = 0.05}).longer, Duration::milliseconds(2'500));
}

TEST_F(PathMtu, ABlackHoleIsLeftAtAFlowsBeginningAndEnd) {
  for (const std::int64_t ms : {-2'000, 100, 400, 4'500}) {
    const Cost cost = cost_of({.after = Duration::milliseconds(ms)});
    EXPECT_LT(cost.longer, Duration::seconds(2));
    EXPECT_LE(cost.path_mtu, 1300);
  }
}

// Even the base size is too long for the link, so the limit falls twice.
TEST_F(PathMtu, ALinkThatCarriesNoMoreThanAnyMustIsUsed) {
  for (const double loss : {0.0, 0.01}) {
    const Cost cost = cost_of({.mtu = 576, .loss = loss});
    EXPECT_EQ(cost.black_holes, 2U);
    EXPECT_EQ(cost.path_mtu, 576);
    EXPECT_LT(cost.longer, Duration::milliseconds(3'200));
  }
  start(4, 576, 0, 2'000'000);
  finish();
  EXPECT_EQ(sending_side().path_mtu, 576);
}

TEST_F(PathMtu, WhatHasBecomeLargeAgainIsFoundByTheNextSearch) {
  Download run({}, 1);
  run.network->satellite().from_b().set_mtu(1300);
  run.end();
  EXPECT_LE(run.sending_side().path_mtu, 1300);
  run.network->satellite().from_b().set_mtu(0);
  run.network->run_for(Duration::seconds(620));
  EXPECT_EQ(run.sending_side().path_mtu, 1500);
  EXPECT_EQ(run.sending_side().counters.mtu_black_holes, 1U);
}

TEST_F(PathMtu, OutagesOfAnyLengthAmongLossesAreNoBlackHoles) {
  std::uint64_t outages = 0;
  for (const double loss : {0.01, 0.05}) {
    start(5, 0, loss, 400'000'000);
    network->run_for(Duration::seconds(4));
    for (std::int64_t ms = 50; ms <= 3'000; ms += 300) {
      network->satellite().set_outage(true);
      network->run_for(Duration::milliseconds(ms));
      network->satellite().set_outage(false);
      network->run_for(Duration::milliseconds(2'000));
      ++outages;
    }
    EXPECT_FALSE(network->flow(0).client.ended);
    EXPECT_EQ(sending_side().counters.mtu_black_holes, 0U);
    EXPECT_EQ(sending_side().path_mtu, 1500);
  }
  std::printf("  %d outages\n", static_cast<int>(outages));
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
