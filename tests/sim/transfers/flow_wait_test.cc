// The reasons that a flow reports for what each of its directions waits for.
#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "relay/gateway/snapshot.h"
#include "relay/sim/network/network.h"
#include "relay/sim/scenarios/plans.h"
#include "relay/sim/scenarios/scenario.h"

namespace satrelay::sim::flow_wait_test {
namespace {

using gateway::FlowSnapshot;
using gateway::Wait;

class FlowWaitTest : public ::testing::Test {
 protected:
  void start(const Plan& client, const Plan& server, double loss = 0) {
    LinkSpec link;
    link.one_way_delay = Duration::milliseconds(275);
    link.loss = loss;
    Scenario scenario = make_lab(1, link);
    add_flow(scenario, Side::kA, client, server).start = Instant() + Duration::seconds(3);
    network.emplace(scenario, tracer);
  }
  void run_until(Duration time) {
    const Duration since_start = network->loop().now() - Instant();
    network->run_for(time - since_start);
  }
  FlowSnapshot flow(Side side) {
    const auto all = network->gateway(side).engine().flows(0, 1, network->loop().now());
    EXPECT_EQ(all.size(), 1U);
    return all.empty() ? FlowSnapshot() : all[0];
  }
  std::string waits(Side side) {
    const FlowSnapshot one = flow(side);
    return std::string(to_string(one.wait_towards_peer)) + ", " +
           std::string(to_string(one.wait_towards_host));
  }

  Tracer tracer;
  std::optional<Network> network;
};

TEST_F(FlowWaitTest, AnIdleConnectionWaitsForItsHosts) {
  start(requester(100), receiver());
  run_until(Duration::seconds(6));
  EXPECT_EQ(waits(Side::kA), "source, source");
  EXPECT_EQ(waits(Side::kB), "source, source");
  const FlowSnapshot near = flow(Side::kA);
  EXPECT_EQ(near.bytes_from_lan, 100U);
  EXPECT_GE(near.bytes_encoded, 100U);
  const auto again = network->gateway(Side::kA).engine().flow(near.id, network->loop().now());
  ASSERT_TRUE(again);
  EXPECT_EQ(again->client_port, near.client_port);
  EXPECT_FALSE(network->gateway(Side::kA).engine().flow(near.id + 1, network->loop().now()));
}

TEST_F(FlowWaitTest, BulkWaitsForTheLinkAndThenForItsAcknowledgment) {
  start(sender(20'000'000), receiver());
  run_until(Duration::seconds(4));
  EXPECT_EQ(flow(Side::kA).wait_towards_peer, Wait::kLink);
  EXPECT_EQ(flow(Side::kB).wait_towards_peer, Wait::kSource);
  // 20 MB at 50 Mbit/s and some start-up time: all bytes have left, and are in flight.
  run_until(Duration::seconds(6) + Duration::milliseconds(750));
  EXPECT_EQ(flow(Side::kA).wait_towards_peer, Wait::kAcknowledgment);
}

TEST_F(FlowWaitTest, AReaderThatPausesIsToldAtBothEnds) {
  start(sender(400'000'000), slow(receiver(), BitRate::bits_per_second(100'000)));
  run_until(Duration::seconds(60));
  EXPECT_EQ(flow(Side::kB).wait_towards_host, Wait::kHostWindow);
  const Wait near = flow(Side::kA).wait_towards_peer;
  EXPECT_TRUE(near == Wait::kCredit || near == Wait::kStore) << to_string(near);
}

TEST_F(FlowWaitTest, ASilentPeerIsWhatEverythingWaitsFor) {
  start(sender(40'000'000), receiver());
  run_until(Duration::seconds(4));
  network->satellite().set_outage(true);
  run_until(Duration::seconds(12));
  EXPECT_EQ(waits(Side::kA), "peer, peer");
  EXPECT_EQ(flow(Side::kB).wait_towards_peer, Wait::kPeer);
}

TEST_F(FlowWaitTest, BytesBehindALossWaitForIt) {
  start(sender(20'000'000), receiver(), 0.2);
  std::size_t missing = 0;
  for (int ms = 4'000; ms < 6'000; ms += 10) {
    run_until(Duration::milliseconds(ms));
    if (flow(Side::kB).wait_towards_host != Wait::kLostBytes) continue;
    ++missing;
    const FlowSnapshot far = flow(Side::kB);
    EXPECT_EQ(far.stp_in_order, 0U);
    EXPECT_GT(far.stp_stored, 0U);
  }
  EXPECT_GT(missing, 20U);
}

}  // namespace
}  // namespace satrelay::sim::flow_wait_test
