#include "relay/gateway/flows/table/memory_plan.h"

#include <gtest/gtest.h>

#include <utility>

#include "pep/base/arena.h"

namespace satrelay::gateway::memory_plan_test {
namespace {

config::Gateway two_peers() {
  config::Gateway config;
  config.links = {{.name = "fast",
                   .send_rate = BitRate::bits_per_second(1'000'000'000),
                   .receive_rate = BitRate::bits_per_second(1'000'000'000)},
                  {.name = "slow",
                   .send_rate = BitRate::bits_per_second(250'000'000),
                   .receive_rate = BitRate::bits_per_second(250'000'000)}};
  config.peers = {{.name = "a", .address = {}, .prefixes = {}, .links = {"fast"}},
                  {.name = "b", .address = {}, .prefixes = {}, .links = {"slow"}}};
  return config;
}

TEST(MemoryPlan, HoldsFourSecondsOfAllLinksBothWays) {
  EXPECT_EQ(plan_memory(two_peers()).arena, ByteCount(1'250'000'000));
}

TEST(MemoryPlan, HasAFloorForSlowLinks) {
  config::Gateway config = two_peers();
  for (auto& link : config.links) {
    link.send_rate = link.receive_rate = BitRate::bits_per_second(64'000);
  }
  config.limits.flows = 1'000;
  EXPECT_EQ(plan_memory(config).arena, ByteCount(64ULL << 20));
}

TEST(MemoryPlan, ServesTheFlowsOfTheTable) {
  config::Gateway config = two_peers();
  for (auto& link : config.links) {
    link.send_rate = link.receive_rate = BitRate::bits_per_second(64'000);
  }
  config.limits.flows = 1'000;
  const std::uint64_t of_one_flow = plan_memory(config).flow_receive_limit[LaneId(0)];
  config.limits.flows = 65'536;
  const MemoryPlan plan = plan_memory(config);
  EXPECT_EQ(plan.arena, ByteCount(256ULL << 20));
  EXPECT_EQ(plan.flow_receive_limit[LaneId(0)], of_one_flow);
}

TEST(MemoryPlan, HalfOfItIsWhatTheFlowsHaveToThemselves) {
  config::Gateway config = two_peers();
  const auto sizes = [&](std::uint64_t memory, std::uint32_t flows) {
    config.limits.memory = ByteCount(memory);
    config.limits.flows = flows;
    const MemoryPlan plan = plan_memory(config);
    return std::pair(plan.reserve_size, plan.block_size);
  };
  for (const std::uint64_t memory : {4ULL << 20, 64ULL << 20, 1ULL << 30, 10ULL << 30}) {
    for (const std::uint32_t flows : {1U, 100U, 1'000U, 65'536U}) {
      const auto [reserve, block] = sizes(memory, flows);
      EXPECT_LE(reserve, block);
      EXPECT_LE(block, Arena::kMostReservesOfABlock * reserve);
      if (memory < config::kMemoryOfAFlow.value() * flows) continue;
      EXPECT_LE(kStoresOfAFlow * reserve * flows, memory / 2) << memory << " " << flows;
    }
  }
  EXPECT_EQ(sizes(256ULL << 20, 65'536), std::pair(512UL, 2'048UL));
  EXPECT_EQ(sizes(1ULL << 30, 65'536), std::pair(2'048UL, 4'096UL));
  EXPECT_EQ(sizes(10ULL << 30, 65'536), std::pair(4'096UL, 4'096UL));
  EXPECT_EQ(sizes(4ULL << 20, 1'000), std::pair(512UL, 512UL));
  EXPECT_EQ(sizes(1ULL << 20, 65'536), std::pair(512UL, 512UL));  // serves fewer flows
}

TEST(MemoryPlan, SharesCreditByRateAndNeverPromisesMoreThanItsPart) {
  const MemoryPlan plan = plan_memory(two_peers());
  ASSERT_EQ(plan.lane_receive_limit.size(), 2U);
  EXPECT_NEAR(static_cast<double>(plan.lane_receive_limit[LaneId(0)]) /
                  static_cast<double>(plan.lane_receive_limit[LaneId(1)]),
              4.0, 0.01);
  EXPECT_LE(plan.lane_receive_limit[LaneId(0)] + plan.lane_receive_limit[LaneId(1)],
            plan.arena.value() / 8 * 3);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_LT(plan.flow_receive_limit[LaneId(i)], plan.lane_receive_limit[LaneId(i)]);
    EXPECT_GT(plan.flow_receive_limit[LaneId(i)], plan.lane_receive_limit[LaneId(i)] / 2);
  }
}

TEST(MemoryPlan, WindowsOfAllHostsLeaveRoomForTheStreamsTheyGoInto) {
  const MemoryPlan plan = plan_memory(two_peers());
  const std::uint64_t credit =
      plan.lane_receive_limit[LaneId(0)] + plan.lane_receive_limit[LaneId(1)];
  EXPECT_GT(plan.host_windows, plan.host_window);
  EXPECT_LE(credit + 2 * plan.host_windows + plan.arena.value() / 8, plan.arena.value());
}

TEST(MemoryPlan, ObeysExplicitLimits) {
  config::Gateway config = two_peers();
  config.limits.memory = ByteCount(128ULL << 20);
  config.limits.flow_memory = ByteCount(1ULL << 20);
  config.limits.host_window = ByteCount(1ULL << 30);
  const MemoryPlan plan = plan_memory(config);
  EXPECT_EQ(plan.arena, ByteCount(128ULL << 20));
  EXPECT_EQ(plan.flow_receive_limit[LaneId(0)], 1ULL << 20);
  EXPECT_EQ(plan.flow_send_limit, 1ULL << 20);
  EXPECT_EQ(plan.host_window, 1ULL << 20) << "no more than a flow may store";
}

// If there are many flows and slow links, a flow stores by default what its link fills. If the
// operator says so, it stores more, out of the same memory.
TEST(MemoryPlan, AnExplicitLimitOfAFlowMayExceedWhatItsLinkFills) {
  config::Gateway config = two_peers();
  for (auto& link : config.links) {
    link.send_rate = link.receive_rate = BitRate::bits_per_second(64'000);
  }
  config.limits.flows = 65'536;
  const MemoryPlan usual = plan_memory(config);
  config.limits.flow_memory = ByteCount(16ULL << 30);
  const MemoryPlan plan = plan_memory(config);
  EXPECT_EQ(plan.arena, usual.arena);
  EXPECT_EQ(plan.flow_send_limit, plan.arena.value() / 8 * 3 / 4 * 3);
  EXPECT_GT(plan.flow_send_limit, usual.flow_send_limit);
  EXPECT_EQ(plan.flow_receive_limit[LaneId(0)], plan.lane_receive_limit[LaneId(0)] / 4 * 3);
  EXPECT_EQ(plan.host_window, usual.host_window);
}

TEST(MemoryPlan, ALinkOfUnknownRateIsPlannedForTheAssumedOne) {
  config::Gateway config = two_peers();
  config::Link& link = config.links[0];
  link.control.controller = config::Controller::kFind;
  link.send_rate = config::kMostLinkRate;
  link.receive_rate = config::kAssumedRate;
  const MemoryPlan plan = plan_memory(config);
  EXPECT_EQ(plan.arena, ByteCount(750'000'000));
  EXPECT_EQ(plan.host_window, 78'125'000U) << "1.25 s of 500 Mbit/s";
}

TEST(MemoryPlan, AHostMaySendAFlightOfTheFastestLink) {
  config::Gateway config = two_peers();
  EXPECT_EQ(plan_memory(config).host_window, 156'250'000U) << "1.25 s of 1 Gbit/s";
  config.links[0].send_rate = BitRate::bits_per_second(100'000'000);
  EXPECT_EQ(plan_memory(config).host_window, 250'000'000U / 8 * 5 / 4);
  for (auto& link : config.links) link.send_rate = BitRate::bits_per_second(1'000'000);
  EXPECT_EQ(plan_memory(config).host_window, 4ULL << 20) << "at least";
  config.limits.host_window = ByteCount(64ULL << 10);
  EXPECT_EQ(plan_memory(config).host_window, 64ULL << 10) << "what is configured";
  config.limits.host_window = ByteCount(1ULL << 30);
  config.limits.memory = ByteCount(128ULL << 20);
  EXPECT_EQ(plan_memory(config).host_window, 16ULL << 20) << "an eighth of the arena";
  config.limits.host_window = ByteCount(0);
  config.limits.memory = ByteCount(16ULL << 20);
  EXPECT_EQ(plan_memory(config).host_window, 2ULL << 20);
}

// A single flow of one worker may fill a link. So each worker has the memory of a gateway with one
// worker, and all workers share the flows of the table.
TEST(MemoryPlan, OfAWorkerIsThatOfAllButForItsFlows) {
  config::Gateway config = two_peers();
  const MemoryPlan alone = plan_memory(config);
  const MemoryPlan plan = plan_memory(config, {.worker = 3, .workers = 4});
  EXPECT_EQ(plan.arena, alone.arena);
  EXPECT_EQ(plan.lane_receive_limit, alone.lane_receive_limit);
  EXPECT_EQ(plan.flow_receive_limit, alone.flow_receive_limit);
  for (auto& link : config.links) {
    link.send_rate = link.receive_rate = BitRate::bits_per_second(64'000);
  }
  EXPECT_EQ(plan_memory(config, {.worker = 3, .workers = 4}).arena, ByteCount(64ULL << 20));
}

TEST(MemoryPlan, OfAWorkerIsItsPartOfWhatWasGiven) {
  config::Gateway config = two_peers();
  config.limits.memory = ByteCount(1ULL << 30);
  EXPECT_EQ(plan_memory(config, {.worker = 0, .workers = 8}).arena, ByteCount(128ULL << 20));
}

// Each lane to a peer with several workers may fill the link.
TEST(MemoryPlan, EachFurtherLaneHasTheCreditOfAPeer) {
  config::Gateway config = two_peers();
  const MemoryPlan one = plan_memory(config);
  config.peers[1].workers = 4;
  const MemoryPlan plan = plan_memory(config);
  ASSERT_EQ(plan.lane_receive_limit.size(), 5U);
  for (std::size_t i = 1; i < 5; ++i) {
    EXPECT_EQ(plan.lane_receive_limit[LaneId(i)], one.lane_receive_limit[LaneId(1)]);
    EXPECT_EQ(plan.flow_receive_limit[LaneId(i)], one.flow_receive_limit[LaneId(1)]);
  }
  EXPECT_EQ(plan.arena.value(), one.arena.value() + 3 * one.lane_receive_limit[LaneId(1)]);
  EXPECT_EQ(plan.host_windows, one.host_windows);
  config.limits.memory = one.arena;
  EXPECT_EQ(plan_memory(config).arena, one.arena);
  EXPECT_EQ(plan_memory(config).lane_receive_limit[LaneId(1)],
            one.lane_receive_limit[LaneId(1)] / 4);
}

}  // namespace
}  // namespace satrelay::gateway::memory_plan_test
