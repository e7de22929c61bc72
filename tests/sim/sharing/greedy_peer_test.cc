// The first terminal of a hub takes all flows that it can get. The second terminal's hosts go on.
#include <gtest/gtest.h>

#include <vector>

#include "tests/sim/stations.h"

namespace satrelay::sim::greedy_peer_test {
namespace {

using gateway::Counter;

class GreedyPeer : public ::testing::Test {
 protected:
  void start(std::uint32_t flows) {
    StationSpec hub = station(0, {1, 2});
    hub.gateway.limits.flows = hub.gateway.limits.half_open = flows;
    for (std::uint8_t last = 11; last < 19; ++last) hub.hosts.push_back(host_of(0, last));
    stations.add(hub);
    for (const std::size_t i : {1U, 2U}) stations.add(station(i, {0}));
    stations.start();
    ASSERT_TRUE(stations.run_until_alive(Duration::seconds(5)));
  }
  std::uint64_t counted(Counter counter) {
    return stations.gateway(0).engine().counters()[counter];
  }
  gateway::PeerSnapshot peer(std::size_t which) {
    return stations.gateway(0).engine().peers()[which];
  }
  void run_for(Duration time) { stations.loop().run_until(stations.now() + time); }

  Stations stations;
};

// The first terminal's host begins far more flows than there is room for.
TEST_F(GreedyPeer, TheOtherTerminalsTransfersAreAllRelayed) {
  start(64);
  for (int i = 0; i < 200; ++i) {
    stations.transfer(stations.host(1), stations.host(0, static_cast<std::size_t>(1 + i % 8)),
                      IpVersion::kV4, 100, 20'000'000);
  }
  run_for(Duration::seconds(5));
  EXPECT_EQ(peer(0).flows, 48U) << "16 are kept for the other";
  EXPECT_EQ(counted(Counter::kFlowsRefusedPeerPart), 152U);
  std::vector<const Transfer*> modest;
  for (int i = 0; i < 16; ++i) {
    modest.push_back(
        &stations.transfer(stations.host(2), stations.host(0), IpVersion::kV4, 100, 20'000));
  }
  run_for(Duration::seconds(30));
  for (const Transfer* each : modest) {
    EXPECT_EQ(each->client.received, 20'000U);
    EXPECT_TRUE(each->client.saw_end);
  }
  EXPECT_EQ(peer(1).flows_refused, 0U);
  EXPECT_EQ(peer(0).flows_refused, 152U);
  EXPECT_EQ(stations.gateway(0).engine().audit(), std::nullopt);
}

}  // namespace
}  // namespace satrelay::sim::greedy_peer_test
