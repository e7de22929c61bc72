// Cases in which new flows are bridged although a rule would accelerate them: the operator's
// command, the peer's, a gateway that drains, and a table or a memory that is full.
#include <gtest/gtest.h>

#include <cstdint>
#include <optional>

#include "relay/sim/checks/checks.h"
#include "relay/sim/network/network.h"
#include "relay/sim/scenarios/plans.h"
#include "relay/sim/scenarios/scenario.h"

namespace satrelay::sim::admission_test {
namespace {

using gateway::Admission;
using gateway::Counter;

class AdmissionTest : public ::testing::Test {
 protected:
  void start(std::uint64_t seed, double loss = 0) {
    LinkSpec link;
    link.loss = loss;
    scenario = make_lab(seed, link);
    prepare();
    network.emplace(*scenario, tracer);
    ASSERT_TRUE(network->run_until_peers_alive(Instant() + Duration::seconds(20)));
    network->run_for(Duration::seconds(1));
  }
  virtual void prepare() {}
  gateway::Gateway& engine(Side side) { return network->gateway(side).engine(); }
  std::uint64_t count(Side side, Counter counter) { return engine(side).counters()[counter]; }
  void admit(Side side, Admission admission) {
    engine(side).set_admission(admission, network->loop().now());
    network->gateway(side).wake();
  }
  std::size_t open(Side client, const Plan& client_plan, const Plan& server_plan) {
    Scenario drawn = make_lab(100 + network->flow_count(), {});
    FlowSpec flow = add_flow(drawn, client, client_plan, server_plan);
    flow.start = network->loop().now();
    return network->open(flow);
  }
  std::size_t small(Side client) { return open(client, requester(100), responder(100, 20'000)); }
  void expect_all_well() {
    ASSERT_TRUE(network->run_until_flows_over(network->loop().now() + Duration::seconds(120)));
    for (const std::string& broken : check_flows(*network)) ADD_FAILURE() << broken;
  }
  Tracer tracer;
  std::optional<Scenario> scenario;
  std::optional<Network> network;
};

TEST_F(AdmissionTest, BypassBridgesNewFlowsOfBothSidesAndLeavesTheOthers) {
  start(1);
  open(Side::kA, requester(100), responder(100, 40'000'000));
  network->run_for(Duration::seconds(3));
  admit(Side::kA, Admission::kBypass);
  EXPECT_EQ(engine(Side::kA).status(network->loop().now()).admission, Admission::kBypass);
  small(Side::kA);  // Before the peer can know.
  network->run_for(Duration::seconds(1));
  EXPECT_EQ(engine(Side::kB).peers().at(0).admission, Admission::kBypass);
  small(Side::kB);
  network->run_for(Duration::seconds(8));
  EXPECT_EQ(count(Side::kA, Counter::kBridgedBypass), 1U);
  EXPECT_EQ(count(Side::kB, Counter::kBridgedPeerBypass), 1U);
  EXPECT_EQ(network->counted(Counter::kFlowsAccepted), 1U);

  admit(Side::kA, Admission::kOpen);
  network->run_for(Duration::seconds(1));
  small(Side::kA);
  small(Side::kB);
  expect_all_well();
  EXPECT_EQ(network->counted(Counter::kFlowsEstablished), 3U);
}

TEST_F(AdmissionTest, ThePeerKnowsOfABypassAfterAnOutageAndAfterItsOwnRestart) {
  start(2);
  network->satellite().set_outage(true);
  network->run_for(Duration::seconds(5));
  admit(Side::kA, Admission::kBypass);
  network->run_for(Duration::seconds(5));
  network->satellite().set_outage(false);
  network->run_for(Duration::seconds(2));
  EXPECT_EQ(engine(Side::kB).peers().at(0).admission, Admission::kBypass);

  network->gateway(Side::kB).kill();
  network->gateway(Side::kB).start(1'800'000'000'000'000'000U);
  network->run_for(Duration::seconds(2));
  EXPECT_EQ(engine(Side::kB).peers().at(0).admission, Admission::kBypass);

  // A restart of the bypassed gateway ends the bypass.
  network->gateway(Side::kA).kill();
  network->gateway(Side::kA).start(1'800'000'000'000'000'001U);
  network->run_for(Duration::seconds(2));
  EXPECT_EQ(engine(Side::kB).peers().at(0).admission, Admission::kOpen);
}

TEST_F(AdmissionTest, ADrainedGatewayStopsWithoutTheLossOfAFlow) {
  for (const std::uint64_t seed : {3U, 4U, 5U}) {
    start(seed, 0.05);
    open(Side::kA, requester(100), responder(100, 10'000'000));
    open(Side::kB, sender(3'000'000), receiver());
    network->run_for(Duration::seconds(2));
    admit(Side::kA, Admission::kDraining);
    small(Side::kA);
    network->run_for(Duration::seconds(1));
    small(Side::kB);
    const auto drained = [&] { return engine(Side::kA).unfinished_flows() == 0; };
    for (int i = 0; i < 300 && !drained(); ++i) network->run_for(Duration::milliseconds(100));
    // satrelayd waits as long: 1 s and two round trips.
    network->run_for(Duration::milliseconds(2'100));
    ASSERT_TRUE(drained());
    // A bridged SYN may be lost and repeated.
    EXPECT_GE(count(Side::kA, Counter::kBridgedDraining), 1U);
    EXPECT_GE(count(Side::kB, Counter::kBridgedPeerBypass), 1U);
    EXPECT_EQ(network->counted(Counter::kFlowsAccepted), 2U);
    engine(Side::kA).shut_down(network->loop().now());
    network->gateway(Side::kA).wake();
    network->run_for(Duration::seconds(2));
    EXPECT_EQ(network->counted(Counter::kFlowsResetShutdown), 0U);
    EXPECT_EQ(network->counted(Counter::kFlowsResetPeerClosed), 0U);
    EXPECT_EQ(engine(Side::kB).peers().at(0).state, stp::PeerState::kClosed);
    expect_all_well();
  }
}

class FullTable : public AdmissionTest {
  void prepare() override { scenario->stations[0].limits.flows = 4; }
};
TEST_F(FullTable, BridgesFurtherFlows) {
  start(6);
  for (int i = 0; i < 2; ++i) open(Side::kA, requester(100), responder(100, 20'000'000));
  network->run_for(Duration::seconds(2));
  small(Side::kA);
  network->run_for(Duration::seconds(4));
  EXPECT_EQ(count(Side::kA, Counter::kBridgedHostPart), 1U) << "its host has half of them";
  expect_all_well();
  EXPECT_EQ(count(Side::kA, Counter::kFlowsAccepted), 2U);
}

class LowMemory : public AdmissionTest {
  void prepare() override {
    for (Station& station : scenario->stations) {
      station.limits.memory = ByteCount(2 << 20);
      station.limits.host_window = ByteCount(1 << 20);
      station.limits.flow_memory = ByteCount(2 << 20);
    }
  }
};
TEST_F(LowMemory, BridgesFurtherFlows) {
  start(7);
  // Bytes that the far hosts do not read stay here, some for each flow.
  for (int i = 0; i < 150; ++i) {
    open(Side::kA, sender(200'000), slow(receiver(), BitRate(), Duration::seconds(30)));
  }
  network->run_for(Duration::seconds(15));
  small(Side::kA);
  network->run_for(Duration::seconds(5));
  EXPECT_GT(count(Side::kA, Counter::kBridgedMemoryLow), 0U);
  EXPECT_TRUE(network->flow(150).client.saw_end);
  network->run_for(Duration::seconds(120));  // The bridged flow takes long.
  expect_all_well();
}

}  // namespace
}  // namespace satrelay::sim::admission_test
