#include "relay/gateway/steering/lane_addresses.h"

#include <gtest/gtest.h>

#include <vector>

namespace satrelay::gateway::lane_addresses_test {
namespace {

config::Gateway with_peers(std::initializer_list<unsigned> workers) {
  config::Gateway config;
  for (const unsigned count : workers) {
    config.peers.push_back({.name = "p", .address = {}, .prefixes = {}, .links = {"sat"}});
    config.peers.back().workers = count;
  }
  return config;
}

TEST(LaneAddresses, WithOneWorkerALaneHasTheNumberOfItsPeer) {
  const LaneAddresses lanes(with_peers({0, 1}), {});
  ASSERT_EQ(lanes.size(), 2U);
  EXPECT_EQ(lanes[LaneId(1)].peer, FarGatewayId(1));
  EXPECT_EQ(lanes[LaneId(1)].number, 0);
  EXPECT_EQ(lanes[LaneId(1)].count, 1);
  EXPECT_EQ(lanes.of_flow(FarGatewayId(1), 0xffff), LaneId(1));
  EXPECT_EQ(lanes.find(FarGatewayId(1), 1), std::nullopt);
}

TEST(LaneAddresses, AGatewayWithMoreWorkersDecidesHowManyLanesThereAre) {
  const config::Gateway config = with_peers({1, 2, 8});
  const LaneAddresses lanes(config, {.worker = 1, .workers = 2});
  // One lane to the first peer, one to the second, and lanes 1, 3, 5 and 7 to the third.
  ASSERT_EQ(lanes.size(), 6U);
  EXPECT_EQ(lanes[LaneId(0)].count, 2);
  EXPECT_EQ(lanes[LaneId(2)].peer, FarGatewayId(2));
  EXPECT_EQ(lanes[LaneId(2)].number, 1);
  EXPECT_EQ(lanes[LaneId(5)].number, 7);
  EXPECT_EQ(lanes[LaneId(5)].count, 8);
  EXPECT_EQ(lanes.first_of(FarGatewayId(2)), LaneId(2));
  std::vector<LaneId> of_third;
  for (const LaneId lane : lanes.of(FarGatewayId(2))) of_third.push_back(lane);
  EXPECT_EQ(of_third, (std::vector{LaneId(2), LaneId(3), LaneId(4), LaneId(5)}));
  EXPECT_EQ(lanes.find(FarGatewayId(2), 6), std::nullopt);
  EXPECT_EQ(lanes.find(FarGatewayId(2), 9), std::nullopt);
}

// For all numbers of workers, both ends have a flow at the worker that its hash names, and on the
// same lane.
TEST(LaneAddresses, BothGatewaysFindAFlowByItsHash) {
  for (const unsigned here : {1U, 2U, 4U, 16U}) {
    for (const unsigned there : {1U, 2U, 8U}) {
      for (std::uint32_t hash = 0; hash < 64; ++hash) {
        const auto lane_at = [&](unsigned own, unsigned far) {
          const LaneAddresses lanes(with_peers({1, far}),
                                    {.worker = hash & (own - 1), .workers = own});
          return lanes[lanes.of_flow(FarGatewayId(1), hash).value()].number;
        };
        EXPECT_EQ(lane_at(here, there), lane_at(there, here));
        const LaneAddresses other(with_peers({1, there}),
                                  {.worker = (hash + 1) & (here - 1), .workers = here});
        EXPECT_EQ(other.of_flow(FarGatewayId(1), hash).has_value(), here == 1);
      }
    }
  }
}

}  // namespace
}  // namespace satrelay::gateway::lane_addresses_test
