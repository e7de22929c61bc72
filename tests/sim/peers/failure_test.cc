// Gateways that die, restart or are out of reach, links that go down, and floods.
#include <gtest/gtest.h>

#include <cstdint>

#include "relay/sim/checks/checks.h"
#include "relay/sim/network/network.h"
#include "relay/sim/scenarios/plans.h"
#include "relay/sim/scenarios/scenario.h"

namespace satrelay::sim::failure_test {
namespace {

constexpr std::uint64_t kLaterEpoch = 1'800'000'000'000'000'000U;

void restart(Side restarted, Side client_side) {
  Scenario scenario = make_lab(1, {});
  add_flow(scenario, client_side, requester(100), responder(100, 50'000'000));
  add_flow(scenario, client_side, sender(50'000'000), receiver());
  Tracer tracer;
  Network network(scenario, tracer);
  network.run_for(Duration::seconds(8));  // Three seconds into the transfers.
  ASSERT_GT(network.flow(0).client.received, 1'000'000U);
  network.gateway(restarted).kill();
  network.run_for(Duration::seconds(2));
  network.gateway(restarted).start(kLaterEpoch);
  const Instant started = network.loop().now();

  const Side survivor = opposite(restarted);
  const bool clients_survive = client_side == survivor;
  network.run_for(Duration::seconds(10));
  for (std::size_t i = 0; i < 2; ++i) {
    const Outcome& host = clients_survive ? network.flow(i).client : network.flow(i).server;
    EXPECT_TRUE(host.was_reset()) << "flow " << i << " at the surviving gateway";
    EXPECT_LE((host.ended_at - started).to_seconds(), 10.0);
    EXPECT_FALSE(network.flow(i).client.saw_end);
    EXPECT_FALSE(network.flow(i).server.saw_end);
  }
  EXPECT_EQ(network.gateway(survivor).engine().counters()[gateway::Counter::kFlowsResetPeerRestart],
            2U);

  // New connections work in both directions.
  FlowSpec fresh = network.spec(0);
  fresh.client_plan = requester(100);
  fresh.server_plan = responder(100, 200'000);
  fresh.client_plan.expected = fresh.server_plan.content = Pattern(77, Content::kText);
  fresh.server_plan.expected = fresh.client_plan.content = Pattern(78, Content::kText);
  fresh.start = network.loop().now();
  const std::size_t one = network.open(fresh);
  fresh.client_side = opposite(fresh.client_side);
  const std::size_t two = network.open(fresh);
  network.run_for(Duration::seconds(10));
  for (const std::size_t i : {one, two}) {
    EXPECT_EQ(network.flow(i).client.received, 200'000U);
    EXPECT_TRUE(network.flow(i).client.saw_end && network.flow(i).server.saw_end);
    EXPECT_FALSE(network.flow(i).client.first_wrong_byte);
  }
  EXPECT_EQ(network.gateway(client_side).engine().counters()[gateway::Counter::kBridgedPeerDown],
            0U);

  // Hosts behind the restarted gateway learn about the restart when they next send.
  ASSERT_TRUE(network.run_until_flows_over(Instant() + Duration::seconds(1'700)));
  for (std::size_t i = 0; i < 2; ++i) {
    const Outcome& host = clients_survive ? network.flow(i).server : network.flow(i).client;
    const bool sends = clients_survive ? i == 0 : i == 1;
    if (sends) {
      EXPECT_TRUE(host.was_reset()) << "flow " << i << " behind the restarted gateway";
    }
    EXPECT_FALSE(host.first_wrong_byte);
  }
}

TEST(Failure, RestartOfTheServersGateway) { restart(Side::kB, Side::kA); }
TEST(Failure, RestartOfTheClientsGateway) { restart(Side::kA, Side::kA); }

TEST(Failure, WhileThePeerIsUnreachableNewTcpGoesBridged) {
  Scenario scenario = make_lab(2, {});
  add_flow(scenario, Side::kA, requester(100), responder(100, 100'000));
  Tracer tracer;
  Network network(scenario, tracer);
  network.run_for(Duration::seconds(2));
  network.gateway(Side::kB).fail_to_wire(true);
  network.gateway(Side::kB).kill();
  FlowSpec flow = network.spec(0);
  flow.start = network.loop().now() + Duration::seconds(5);  // After suspect_after.
  const std::size_t index = network.open(flow);
  network.run_for(Duration::seconds(60));
  EXPECT_GE(network.gateway(Side::kA).engine().counters()[gateway::Counter::kBridgedPeerDown], 1U);
  EXPECT_EQ(network.flow(index).client.received, 100'000U);
  EXPECT_TRUE(network.flow(index).client.saw_end && network.flow(index).server.saw_end);

  // Once the peer is back, flows are relayed again.
  network.gateway(Side::kB).start(kLaterEpoch);
  network.run_for(Duration::seconds(5));
  flow.start = network.loop().now();
  const std::size_t relayed = network.open(flow);
  const auto before =
      network.gateway(Side::kA).engine().counters()[gateway::Counter::kFlowsEstablished];
  network.run_for(Duration::seconds(10));
  EXPECT_TRUE(network.flow(relayed).client.saw_end);
  EXPECT_EQ(network.gateway(Side::kA).engine().counters()[gateway::Counter::kFlowsEstablished],
            before + 1);
}

TEST(Failure, AnOutageOfTheLinkPausesFlowsAndLosesNothing) {
  Scenario scenario = make_lab(3, {});
  add_flow(scenario, Side::kA, requester(100), responder(100, 20'000'000));
  add_flow(scenario, Side::kA, sender(5'000'000), receiver());
  Tracer tracer;
  Network network(scenario, tracer);
  network.run_for(Duration::milliseconds(6'500));
  network.satellite().set_outage(true);
  network.run_for(Duration::seconds(20));
  EXPECT_FALSE(network.flow(0).client.ended);
  network.satellite().set_outage(false);
  const Instant back = network.loop().now();
  ASSERT_TRUE(network.run_until_flows_over(Instant() + Duration::seconds(300)));
  for (const std::string& broken : check_flows(network)) ADD_FAILURE() << broken;
  // 20 MB need 3.4 s. In the rest of the time the gateways find out that the link is back.
  EXPECT_LT((network.flow(0).client.saw_end_at - back).to_seconds(), 10.0);
  ASSERT_TRUE(network.run_until_drained(network.loop().now() + Duration::seconds(300)));
}

TEST(Failure, AFlowThatBeganBridgedStaysBridgedToItsEnd) {
  Scenario scenario = make_lab(5, {});
  // The SYN arrives before the gateways know each other.
  add_flow(scenario, Side::kA, requester(100), responder(100, 3'000'000)).start =
      Instant() + Duration::milliseconds(100);
  Tracer tracer;
  Network network(scenario, tracer);
  ASSERT_TRUE(network.run_until_flows_over(Instant() + Duration::seconds(300)));
  for (const std::string& broken : check_flows(network)) ADD_FAILURE() << broken;
  EXPECT_EQ(network.counted(gateway::Counter::kFlowsAccepted), 0U);
  EXPECT_GT(network.counted(gateway::Counter::kBridgedMidStream), 100U);
  // The flow lasts so long that the peers are alive for most of it.
  EXPECT_GT(network.flow(0).client.saw_end_at, Instant() + Duration::seconds(3));
}

// The same addresses and ports are used again, at once or while the gateways still remember the
// last use.
void reuse_of_ports(const Plan& client, const Plan& server, Duration pause) {
  Scenario scenario = make_lab(7, {});
  add_flow(scenario, Side::kA, client, server).client_port = 40'000;
  Tracer tracer;
  Network network(scenario, tracer);
  FlowSpec again = network.spec(0);
  for (int i = 0; i < 5; ++i) {
    ASSERT_TRUE(network.run_until_flows_over(network.loop().now() + Duration::seconds(60)));
    again.start = network.loop().now() + pause;
    network.open(again);
  }
  ASSERT_TRUE(network.run_until_flows_over(network.loop().now() + Duration::seconds(60)));
  ASSERT_TRUE(network.run_until_drained(network.loop().now() + Duration::seconds(600)));
  for (const std::string& broken : check_flows(network)) ADD_FAILURE() << broken;
  for (const std::string& broken : check_memory(network)) ADD_FAILURE() << broken;
}

TEST(Failure, PortsAreUsedAgainAfterTheServerClosedFirst) {
  reuse_of_ports(requester(100), responder(100, 20'000), Duration::zero());
  reuse_of_ports(requester(100), responder(100, 20'000), Duration::seconds(2));
  reuse_of_ports(requester(100), responder(100, 20'000), Duration::seconds(40));
}

TEST(Failure, PortsAreUsedAgainAfterTheClientClosedFirst) {
  reuse_of_ports(sender(20'000), receiver(), Duration::zero());
  reuse_of_ports(sender(20'000), receiver(), Duration::seconds(2));
  reuse_of_ports(sender(20'000), receiver(), Duration::seconds(40));
}

TEST(Failure, PortsAreUsedAgainAfterAReset) {
  reuse_of_ports(resetter_after_sending(5'000), receiver(), Duration::zero());
  reuse_of_ports(requester(5'000), resetter_after_receiving(5'000), Duration::zero());
}

TEST(Failure, CleanShutDownResetsHostsAtOnceAndTellsThePeer) {
  Scenario scenario = make_lab(6, {});
  add_flow(scenario, Side::kA, requester(100), responder(100, 50'000'000));
  Tracer tracer;
  Network network(scenario, tracer);
  network.run_for(Duration::seconds(8));
  ASSERT_GT(network.flow(0).client.received, 1'000'000U);
  network.gateway(Side::kA).engine().shut_down(network.loop().now());
  network.gateway(Side::kA).wake();
  network.run_for(Duration::milliseconds(100));
  EXPECT_TRUE(network.flow(0).client.was_reset());
  network.run_for(Duration::seconds(2));
  EXPECT_TRUE(network.flow(0).server.was_reset());
  const auto peers = network.gateway(Side::kB).engine().peers();
  EXPECT_EQ(peers.at(0).state, stp::PeerState::kClosed);
}

}  // namespace
}  // namespace satrelay::sim::failure_test
