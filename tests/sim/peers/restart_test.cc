// A gateway restarts while flows are open. The surviving gateway lists them, and no host hangs.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <optional>

#include "relay/sim/network/network.h"
#include "relay/sim/scenarios/plans.h"
#include "relay/sim/scenarios/scenario.h"

namespace satrelay::sim::restart_test {
namespace {

using gateway::Counter;

constexpr std::uint64_t kLaterEpoch = 1'800'000'000'000'000'000U;
constexpr Duration kRoundTrip = Duration::milliseconds(550);

class RestartTest : public ::testing::Test {
 protected:
  static constexpr std::size_t kFlows = 6;
  Duration give_up_after = Duration::seconds(900);
  void start(std::uint64_t seed, double loss, bool journal = false) {
    LinkSpec link;
    link.one_way_delay = kRoundTrip / 2;
    link.loss = loss;
    Scenario scenario = make_lab(seed, link);
    scenario.journal = journal;
    scenario.stp.give_up_after = give_up_after;
    for (const Side side : {Side::kA, Side::kB}) {
      // After the request each host of this flow waits for the other.
      add_flow(scenario, side, requester(100), receiver());
      add_flow(scenario, side, requester(100), responder(100, 80'000'000));
      add_flow(scenario, side, sender(80'000'000), receiver());
    }
    network.emplace(scenario, tracer);
    network->run_for(Duration::seconds(8));
    for (std::size_t i = 0; i < kFlows; ++i) {
      ASSERT_TRUE(network->flow(i).client.established && network->flow(i).server.established);
      ASSERT_FALSE(network->flow(i).client.ended);
    }
  }
  void restart(Side side, Duration down) {
    network->gateway(side).kill();
    network->run_for(down);
    network->gateway(side).start(kLaterEpoch + static_cast<std::uint64_t>(side));
    back = network->loop().now();
  }
  // How long after the restart the last host was reset.
  Duration until_all_know(Side at) {
    Duration longest;
    for (std::size_t i = 0; i < kFlows; ++i) {
      const bool client = network->spec(i).client_side == at;
      const Outcome& host = client ? network->flow(i).client : network->flow(i).server;
      EXPECT_TRUE(host.ended && host.was_reset()) << "flow " << i;
      EXPECT_FALSE(host.saw_end || host.first_wrong_byte) << "flow " << i;
      longest = std::max(longest, host.ended_at - back);
    }
    return longest;
  }
  std::uint64_t count(Side side, Counter counter) {
    return network->gateway(side).engine().counters()[counter];
  }
  Tracer tracer;
  std::optional<Network> network;
  Instant back;
};

TEST_F(RestartTest, HostsOfBothSidesKnowWithinThreeRoundTrips) {
  for (const Side side : {Side::kA, Side::kB}) {
    start(1, 0);
    restart(side, Duration::seconds(2));
    network->run_for(Duration::seconds(2));
    const Duration far = until_all_know(opposite(side));
    const Duration near = until_all_know(side);
    std::printf("  all hosts of the surviving gateway know after %.3f s, of the restarted %.3f s\n",
                far.to_seconds(), near.to_seconds());
    // The restarted gateway finds its peer's MAC in one round trip, and its HELLO takes half of
    // one. The handshake takes another round trip. Its end is the proof, and then the list is sent.
    EXPECT_LT(far, kRoundTrip * 5 / 2 + Duration::milliseconds(5));
    EXPECT_LT(near, kRoundTrip * 3 + Duration::milliseconds(5));
    EXPECT_EQ(count(opposite(side), Counter::kFlowsListed), kFlows);
    EXPECT_EQ(count(side, Counter::kFlowsOrphaned), kFlows);
    // When it is asked once more, each host answers that it has no such connection.
    network->run_for(Duration::seconds(5));
    EXPECT_EQ(count(side, Counter::kOrphansReset) + count(side, Counter::kOrphansGone), kFlows);
    EXPECT_EQ(count(side, Counter::kOrphansSilent), 0U);
  }
}

TEST_F(RestartTest, TheListIsSaidAgainWhereTheLinkLosesIt) {
  for (const std::uint64_t seed : {2U, 3U, 4U}) {
    start(seed, 0.2);
    restart(Side::kB, Duration::seconds(2));
    network->run_for(Duration::seconds(10));
    EXPECT_LT(until_all_know(Side::kA), Duration::seconds(4));
    EXPECT_LT(until_all_know(Side::kB), Duration::seconds(6));
  }
}

TEST_F(RestartTest, APeerThatWasGivenUpHearsOfItsFlowsWhenItReturnsAnew) {
  give_up_after = Duration::seconds(100);
  start(5, 0);
  restart(Side::kB, Duration::seconds(200));
  EXPECT_GT(count(Side::kA, Counter::kFlowsResetPeerLost), 0U);
  network->run_for(Duration::seconds(3));
  until_all_know(Side::kA);
  EXPECT_LT(until_all_know(Side::kB), kRoundTrip * 3 + Duration::milliseconds(5));
}

TEST_F(RestartTest, AGatewayThatWasOnlySilentListsNothing) {
  start(6, 0);
  network->satellite().set_outage(true);
  network->run_for(Duration::seconds(10));
  network->satellite().set_outage(false);
  network->run_for(Duration::seconds(3));
  EXPECT_EQ(network->counted(Counter::kFlowsListed), 0U);
  EXPECT_EQ(network->counted(Counter::kFlowsOrphaned), 0U);
  EXPECT_FALSE(network->flow(0).client.ended);
}

// The journal tells the gateway about its own flows before any peer does.
TEST_F(RestartTest, AJournalNeedsNoPeer) {
  start(7, 0, true);
  restart(Side::kB, Duration::seconds(2));
  network->run_for(Duration::milliseconds(100));
  const Duration near = until_all_know(Side::kB);
  std::printf("  all hosts of the restarted gateway know after %.3f s\n", near.to_seconds());
  EXPECT_LT(near, Duration::milliseconds(5));
  network->run_for(Duration::seconds(10));
  EXPECT_LT(until_all_know(Side::kA), kRoundTrip * 5 / 2 + Duration::milliseconds(5));
  EXPECT_EQ(count(Side::kB, Counter::kFlowsOrphaned), kFlows) << "the peer's list adds none";
  EXPECT_EQ(count(Side::kB, Counter::kOrphansReset) + count(Side::kB, Counter::kOrphansGone),
            kFlows);
}

TEST_F(RestartTest, NoHostHangsWhenBothGatewaysAreStartedAnew) {
  for (const Duration apart : {Duration::zero(), Duration::seconds(1)}) {
    start(8, 0, true);
    network->gateway(Side::kA).kill();
    network->run_for(apart);
    network->gateway(Side::kB).kill();
    network->run_for(Duration::seconds(1));
    for (const Side side : {Side::kA, Side::kB}) {
      network->gateway(side).start(kLaterEpoch + static_cast<std::uint64_t>(side));
    }
    back = network->loop().now();
    network->run_for(Duration::milliseconds(100));
    const Duration longest = std::max(until_all_know(Side::kA), until_all_know(Side::kB));
    std::printf("  all hosts know after %.3f s\n", longest.to_seconds());
    EXPECT_LT(longest, Duration::milliseconds(5));
    network->run_for(Duration::seconds(100));
    for (const Side side : {Side::kA, Side::kB}) {
      EXPECT_EQ(count(side, Counter::kFlowsOrphaned), kFlows);
      EXPECT_EQ(count(side, Counter::kOrphansSilent), 0U);
    }
  }
}

// A flow that is over leaves the journal, so the gateway does not ask for it after the next crash.
TEST_F(RestartTest, FlowsThatAreOverLeaveTheJournal) {
  start(9, 0, true);
  restart(Side::kB, Duration::seconds(1));
  network->run_for(Duration::seconds(5));
  until_all_know(Side::kB);
  network->gateway(Side::kA).kill();
  network->gateway(Side::kB).kill();
  network->run_for(Duration::seconds(1));
  network->gateway(Side::kB).start(kLaterEpoch + 10);
  network->run_for(Duration::seconds(1));
  EXPECT_EQ(count(Side::kB, Counter::kFlowsOrphaned), 0U);
}

// The cable is long, so some handshakes are under way when the peer turns out to be new. The peer
// has heard of none of these flows, so none needs a reset.
TEST_F(RestartTest, WhatIsOpenedWhileThePeerIsGreetedAnewWaitsForIt) {
  constexpr Duration kCable = Duration::milliseconds(20);
  constexpr std::size_t kMany = 400;
  LinkSpec link;
  link.one_way_delay = kRoundTrip / 2;
  Scenario scenario = make_lab(10, link);
  scenario.station(Side::kA).cable.delay = kCable;
  for (std::size_t i = 0; i < kMany; ++i) {
    FlowSpec& flow = add_flow(scenario, Side::kA, requester(100), responder(100, 1000));
    flow.start =
        Instant() + Duration::seconds(5) + Duration::milliseconds(5 * static_cast<std::int64_t>(i));
  }
  network.emplace(scenario, tracer);
  network->run_for(Duration::seconds(5));
  restart(Side::kB, Duration::milliseconds(100));
  const auto newcomers = [&] {
    return network->gateway(Side::kA).engine().peers()[0].counters.newcomers;
  };
  const std::uint64_t before = newcomers();
  while (newcomers() == before) {
    network->run_for(Duration::milliseconds(1));
    ASSERT_LT(network->loop().now(), back + Duration::seconds(2));
  }
  const Instant heard = network->loop().now();
  network->run_for(Duration::seconds(20));
  std::size_t waited = 0;
  for (std::size_t i = 0; i < kMany; ++i) {
    const Outcome& client = network->flow(i).client;
    // The client's SYN, the answer, the last ACK.
    if (client.started_at + kCable * 3 <= heard) {
      EXPECT_TRUE(client.was_reset()) << "flow " << i;
      continue;
    }
    EXPECT_TRUE(client.saw_end && client.sent_all) << "flow " << i;
    if (client.started_at + kCable < heard) ++waited;
  }
  EXPECT_GE(waited, 4U);
  EXPECT_EQ(network->counted(Counter::kFlowsResetPeerLost), 0U);
  EXPECT_EQ(network->counted(Counter::kFlowsResetPeerClosed), 0U);
}

}  // namespace
}  // namespace satrelay::sim::restart_test
