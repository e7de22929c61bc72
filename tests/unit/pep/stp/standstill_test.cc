// A stream goes on whatever the other streams hold: the lane's credit, or the arena.
#include <gtest/gtest.h>

#include "pep/stp/streams/credit/lane_share.h"
#include "tests/unit/pep/stp/application.h"

namespace satrelay::stp::test::standstill_test {
namespace {

class StandstillTest : public ::testing::Test {
 protected:
  StandstillTest()
      : net_(end_config(true), end_config(false), Duration::milliseconds(275), {}, 1) {}
  // Fast readers stop reading. The bytes that they were granted fill the lane.
  void stop_reading(std::size_t readers) {
    for (std::size_t i = 0; i < readers; ++i)
      ASSERT_TRUE(net_.apps[0].open(10'000'000, 0, net_.now));
    net_.run(Duration::seconds(8));
    for (auto& [id, flow] : net_.apps[1].flows) flow.read_quantum = 0;
    net_.run(Duration::seconds(20));
  }
  bool gets_through(std::uint64_t bytes) {
    const std::uint64_t before = net_.apps[1].finished_flows;
    if (!net_.apps[0].open(bytes, 0, net_.now)) return false;
    return net_.run(Duration::seconds(60), [&] { return net_.apps[1].finished_flows > before; });
  }
  Network net_;
};

TEST_F(StandstillTest, BytesThatNobodyReadsDoNotTakeTheWholeLane) {
  for (EndConfig& config : net_.configs) {
    config.session.streams.lane_receive_limit = 400'000;
    config.session.streams.receive_limit = 300'000;
  }
  ASSERT_TRUE(net_.connect());
  stop_reading(3);
  EXPECT_GT(net_.session(1).streams().bytes_stored(), 300'000U);
  for (int i = 0; i < 5; ++i) EXPECT_TRUE(gets_through(20'000)) << i;
  EXPECT_EQ(net_.error(), "");
}

// This holds for streams that are open already. The reader that goes on is one that was granted
// much.
TEST_F(StandstillTest, AReaderGoesOnAmongThoseThatHaveStopped) {
  for (EndConfig& config : net_.configs) {
    config.session.streams.lane_receive_limit = 400'000;
    config.session.streams.receive_limit = 300'000;
  }
  ASSERT_TRUE(net_.connect());
  const auto reader = net_.apps[0].open(10'000'000, 0, net_.now);
  ASSERT_TRUE(reader);
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(net_.apps[0].open(10'000'000, 0, net_.now));
  net_.run(Duration::seconds(4));
  for (auto& [id, flow] : net_.apps[1].flows) {
    if (id != static_cast<std::uint64_t>(*reader)) flow.read_quantum = 0;
  }
  net_.run(Duration::seconds(20));
  const auto read = [&] { return net_.apps[1].flows[static_cast<std::uint64_t>(*reader)].read; };
  for (int i = 0; i < 10; ++i) {
    const std::uint64_t before = read();
    net_.run(Duration::seconds(10));
    EXPECT_GT(read(), before) << i;
  }
}

// The rest of the arena is taken by the test.
TEST_F(StandstillTest, EachStreamHasMemoryOfItsOwn) {
  for (EndConfig& config : net_.configs) {
    config.arena_bytes = 64 * 256;
    config.block_size = 256;
    config.reserve_size = 256;
    config.session.streams.reserves = true;
    config.session.streams.lane_receive_limit = 6'000;
  }
  ASSERT_TRUE(net_.connect());
  for (int i = 0; i < 4; ++i) ASSERT_TRUE(net_.apps[0].open(3'000, 2'000, net_.now));
  ASSERT_TRUE(net_.run(Duration::seconds(2), [&] { return net_.apps[1].flows.size() == 4; }));
  std::vector<BlockIndex> taken[2];
  for (int end = 0; end < 2; ++end) {
    Arena& arena = net_.ends[end]->arena();
    for (BlockIndex b = arena.allocate(); b != kNoBlock; b = arena.allocate()) {
      taken[end].push_back(b);
    }
  }
  EXPECT_EQ(net_.apps[0].open(1, 1, net_.now), std::nullopt) << "there is no memory for one more";
  EXPECT_TRUE(net_.run(Duration::seconds(120), [&] {
    return net_.apps[0].finished_flows == 4 && net_.apps[1].finished_flows == 4;
  }));
  EXPECT_EQ(net_.error(), "");
  for (int end = 0; end < 2; ++end) {
    for (const BlockIndex block : taken[end]) net_.ends[end]->arena().release(block);
    EXPECT_EQ(net_.ends[end]->arena().used_blocks(), 0U);
    EXPECT_EQ(net_.session(end).audit(), std::nullopt);
  }
  EXPECT_TRUE(gets_through(1'000));
}

// A writer with less room than it needs is not asked again and again. It is asked once there is
// enough room.
TEST_F(StandstillTest, AWriterIsAskedWhenItHasTheRoomThatItNeeds) {
  for (EndConfig& config : net_.configs) {
    config.arena_bytes = 1000 * 256;
    config.block_size = 256;
    config.reserve_size = 256;
    config.session.streams.reserves = true;
    config.session.streams.lane_receive_limit = 100'000;
  }
  ASSERT_TRUE(net_.connect());
  net_.apps[0].chunk = 100;
  net_.apps[0].least_room = 200;
  // More streams than the schedule asks in one call (64), and the list of waiting streams in
  // another (64).
  constexpr std::size_t kStreams = 150;
  for (std::size_t i = 0; i < kStreams; ++i) ASSERT_TRUE(net_.apps[0].open(2'000, 0, net_.now));
  Arena& arena = net_.ends[0]->arena();
  std::vector<BlockIndex> taken;
  for (BlockIndex b = arena.allocate(); b != kNoBlock; b = arena.allocate()) taken.push_back(b);
  net_.channels[0].outage = true;
  net_.run(Duration::seconds(2));
  EXPECT_EQ(net_.error(), "");
  net_.channels[0].outage = false;
  EXPECT_TRUE(
      net_.run(Duration::seconds(120), [&] { return net_.apps[1].finished_flows == kStreams; }));
  EXPECT_LT(net_.apps[0].asked_in_vain, 20 * kStreams);
  EXPECT_EQ(net_.error(), "");
  for (const BlockIndex block : taken) arena.release(block);
}

// The peer opens more streams than there is memory for. The last ones are refused, and the others
// go on.
TEST_F(StandstillTest, WhatThereIsNoMemoryForIsRefused) {
  net_.configs[1].arena_bytes = 10 * 256;
  net_.configs[1].block_size = 256;
  net_.configs[1].reserve_size = 256;
  net_.configs[1].session.streams.reserves = true;
  ASSERT_TRUE(net_.connect());
  for (int i = 0; i < 4; ++i) ASSERT_TRUE(net_.apps[0].open(500, 0, net_.now));
  net_.run(Duration::seconds(5));
  EXPECT_EQ(net_.session(1).counters().streams_refused, 2U);
  EXPECT_EQ(net_.apps[0].reset_flows, 2U);
  EXPECT_EQ(net_.apps[1].finished_flows, 2U);
}

}  // namespace
}  // namespace satrelay::stp::test::standstill_test
