// The failures in the tables of docs/troubleshooting.md that have no test elsewhere: how soon each
// is found, and how it ends.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdio>
#include <optional>

#include "relay/sim/network/network.h"
#include "relay/sim/scenarios/plans.h"
#include "relay/sim/scenarios/scenario.h"

namespace satrelay::sim::failure_table_test {
namespace {

using gateway::Counter;

constexpr Duration kRoundTrip = Duration::milliseconds(550);
constexpr Duration kSuspectAfter = Duration::seconds(3);
constexpr Duration kGiveUpAfter = Duration::seconds(120);

class FailureTable : public ::testing::Test {
 protected:
  void start(std::uint64_t seed) {
    LinkSpec link;
    link.one_way_delay = kRoundTrip / 2;
    Scenario scenario = make_lab(seed, link);
    scenario.stp.suspect_after = kSuspectAfter;
    scenario.stp.give_up_after = kGiveUpAfter;
    // After the request each host of this flow waits for the other.
    add_flow(scenario, Side::kA, requester(100), receiver());
    add_flow(scenario, Side::kA, requester(100), responder(100, 400'000'000));
    network.emplace(scenario, tracer);
    network->run_for(Duration::seconds(8));
    ASSERT_GT(network->flow(1).client.received, 1'000'000U);
  }
  gateway::Gateway& engine(Side side) { return network->gateway(side).engine(); }
  stp::PeerState state(Side side) { return engine(side).peers().at(0).state; }
  // Runs until the gateway sees its peer in state `wanted`; returns how long that took.
  Duration until(Side side, stp::PeerState wanted) {
    const Instant began = network->loop().now();
    while (state(side) != wanted && network->loop().now() - began < Duration::seconds(300)) {
      network->run_for(Duration::milliseconds(10));
    }
    return network->loop().now() - began;
  }
  bool ended(std::size_t flow) {
    return network->flow(flow).client.ended && network->flow(flow).server.ended;
  }
  std::size_t open_small() {
    FlowSpec flow = network->spec(0);
    flow.client_plan = requester(100);
    flow.server_plan = responder(100, 20'000);
    flow.client_plan.expected = flow.server_plan.content = Pattern(77, Content::kText);
    flow.server_plan.expected = flow.client_plan.content = Pattern(78, Content::kText);
    flow.start = network->loop().now();
    return network->open(flow);
  }
  Tracer tracer;
  std::optional<Network> network;
};

TEST_F(FailureTable, APeerThatIsLostIsMissedAndGivenUp) {
  start(1);
  network->gateway(Side::kB).fail_to_wire(true);
  network->gateway(Side::kB).kill();
  const Instant lost = network->loop().now();
  const Duration found = until(Side::kA, stp::PeerState::kSuspect);
  std::printf("  suspect after %.2f s\n", found.to_seconds());
  // Packets in flight at the end still arrived.
  EXPECT_GE(found, kSuspectAfter);
  EXPECT_LE(found, kSuspectAfter + kRoundTrip);
  const std::size_t bridged = open_small();
  network->run_for(Duration::seconds(10));
  EXPECT_TRUE(network->flow(bridged).client.saw_end);
  EXPECT_EQ(engine(Side::kA).counters()[Counter::kBridgedPeerDown], 1U);
  const auto is_given_up = [&] { return engine(Side::kA).peers().at(0).is_given_up; };
  network->run_for(found + kGiveUpAfter - Duration::milliseconds(50) -
                   (network->loop().now() - lost));
  EXPECT_FALSE(is_given_up());
  network->run_for(Duration::milliseconds(100));
  EXPECT_TRUE(is_given_up());
  // The clients on this side have sent nothing that waits, and wait as they would over a bridge.
  EXPECT_FALSE(network->flow(0).client.ended || network->flow(1).client.ended);
  EXPECT_EQ(engine(Side::kA).counters()[Counter::kFlowsResetPeerLost], 0U);
}

// The download's server has bytes that wait, and is reset. Hosts without bytes that wait are not.
// The direction that works pauses now and then. Its return says nothing about the other direction.
TEST_F(FailureTable, OneDirectionDeadForEverEndsWhatWaits) {
  for (const Side deaf : {Side::kA, Side::kB}) {
    start(2);
    (deaf == Side::kB ? network->satellite().from_a() : network->satellite().from_b())
        .set_outage(true);
    const Duration found = until(deaf, stp::PeerState::kSuspect);
    link::LinkDirection& alive =
        deaf == Side::kB ? network->satellite().from_b() : network->satellite().from_a();
    for (int i = 0; i < 14; ++i) {
      network->run_for(Duration::seconds(7));
      alive.set_outage(true);
      network->run_for(Duration::milliseconds(2'000));
      alive.set_outage(false);
    }
    network->run_for(Duration::seconds(5));
    EXPECT_LE(found, kSuspectAfter + kRoundTrip);
    EXPECT_FALSE(network->flow(0).client.ended || network->flow(0).server.ended);
    EXPECT_TRUE(network->flow(1).server.was_reset());
    std::printf("  server reset after %.1f s\n",
                (network->flow(1).server.ended_at - Instant()).to_seconds() - 8);
    // The reset reaches the client only if the direction to the client works.
    EXPECT_EQ(network->flow(1).client.was_reset(), deaf == Side::kB);
    EXPECT_EQ(engine(Side::kB).counters()[Counter::kFlowsResetPeerLost], 1U);
  }
}

TEST_F(FailureTable, AGatewayWhoseClockWasSetBackIsKnownAgainOnceItWasMissed) {
  start(3);
  network->gateway(Side::kB).kill();
  network->run_for(Duration::milliseconds(100));
  network->gateway(Side::kB).start(1'000'000'000'000'000'000U);  // Below its first epoch.
  const Instant began = network->loop().now();
  Duration known;
  while (engine(Side::kB).peers().at(0).state != stp::PeerState::kAlive ||
         state(Side::kA) != stp::PeerState::kAlive || network->flow(0).client.ended == false) {
    network->run_for(Duration::milliseconds(10));
    known = network->loop().now() - began;
    ASSERT_LT(known, Duration::seconds(30));
  }
  std::printf("  greeted %.2f s after the start\n", known.to_seconds());
  EXPECT_LE(known, kSuspectAfter + kRoundTrip * 3 + Duration::seconds(1));
  EXPECT_GT(engine(Side::kA).peers().at(0).counters.stale_epoch, 0U);
  network->run_for(kRoundTrip * 3);
  EXPECT_TRUE(network->flow(0).client.was_reset() && network->flow(0).server.was_reset());
  const std::size_t fresh = open_small();
  network->run_for(Duration::seconds(5));
  EXPECT_TRUE(network->flow(fresh).client.saw_end);
}

// With a journal no host hangs (restart_test). Here there is no journal, as after a power failure
// without a copy on a disk.
TEST_F(FailureTable, BothRestartedWithoutAJournal) {
  start(4);
  network->gateway(Side::kA).kill();
  network->gateway(Side::kB).kill();
  network->run_for(Duration::seconds(2));
  network->gateway(Side::kA).start(1'800'000'000'000'000'000U);
  network->gateway(Side::kB).start(1'800'000'000'000'000'001U);
  const Instant began = network->loop().now();
  until(Side::kA, stp::PeerState::kAlive);
  until(Side::kB, stp::PeerState::kAlive);
  const Duration known = network->loop().now() - began;
  EXPECT_LE(known, kRoundTrip * 2);
  const std::size_t fresh = open_small();
  network->run_for(Duration::seconds(5));
  EXPECT_TRUE(network->flow(fresh).client.saw_end);
  EXPECT_EQ(engine(Side::kA).counters()[Counter::kFlowsEstablished], 1U);
  // No gateway knows the old flows. Where a host sends, the gateways notice that the numbers of the
  // two LANs do not fit. A host that only waits ends by its own timeout.
  network->run_until_flows_over(Instant() + Duration::seconds(1'700));
  for (const std::size_t flow : {0U, 1U}) {
    EXPECT_TRUE(ended(flow)) << flow;
    std::printf("  flow %zu: client over after %.1f s%s, server after %.1f s%s\n", flow,
                (network->flow(flow).client.ended_at - began).to_seconds(),
                network->flow(flow).client.was_reset() ? " (reset)" : "",
                (network->flow(flow).server.ended_at - began).to_seconds(),
                network->flow(flow).server.was_reset() ? " (reset)" : "");
  }
  for (const Outcome* host : {&network->flow(1).client, &network->flow(1).server}) {
    EXPECT_TRUE(host->was_reset());
    EXPECT_LT(host->ended_at - began, Duration::seconds(15));
  }
  EXPECT_GE(network->counted(Counter::kMisfitsReset), 1U);
}

}  // namespace
}  // namespace satrelay::sim::failure_table_test
