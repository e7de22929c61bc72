// How the endpoint of a flow is set up.
#include "relay/gateway/flows/hosts/host_side.h"

#include <gtest/gtest.h>

#include "tests/unit/relay/gateway/frame_builder.h"

namespace satrelay::gateway::host_side_test {
namespace {

class HostSideTest : public testing::Test {
 protected:
  HostSideTest() {
    config_.lan.mtu = 1500;
    plan_.host_window = 4U << 20;
  }
  static FlowKey key(std::uint16_t port, std::string_view local = "203.0.113.5") {
    return {ip_of(local), ip_of("198.51.100.5"), port, 80, {}};
  }
  HostSide side() const { return {config_, plan_, HashKey{1, 2}}; }
  config::Gateway config_;
  MemoryPlan plan_;
  const Instant now_ = Instant::from_nanoseconds(1'000'000'000);
};

TEST_F(HostSideTest, TheSegmentSizeFollowsFromTheLan) {
  EXPECT_EQ(side().config_for(key(1), 0, now_).mss, 1460);
  EXPECT_EQ(side().config_for(key(1, "2001:db8::5"), 0, now_).mss, 1440);
  config_.lan.mtu = 9000;
  EXPECT_EQ(side().config_for(key(1), 0, now_).mss, 8960);
}

TEST_F(HostSideTest, TheScaleHoldsTheLargestWindow) {
  const std::uint8_t scale = side().config_for(key(1), 0, now_).window_scale;
  EXPECT_GE(std::uint64_t{65'535} << scale, plan_.host_window);
  EXPECT_LT(std::uint64_t{65'535} << (scale - 1), plan_.host_window) << "and no larger one";
  plan_.host_window = 60'000;
  EXPECT_EQ(side().config_for(key(1), 0, now_).window_scale, 0);
}

TEST_F(HostSideTest, SeveralBlocksOfAStreamCanBeQueuedForAHostWithASmallWindow) {
  plan_.host_window = 1'000;
  EXPECT_GE(side().config_for(key(1), 0, now_).send_limit, 4U * 64 * 1024);
}

TEST_F(HostSideTest, WhatTheHostMayStoreIsTheCallersToSay) {
  EXPECT_EQ(side().config_for(key(1), 12'345, now_).receive_limit, 12'345U);
}

TEST_F(HostSideTest, EachFlowHasNumbersOfItsOwnThatMoveWithTime) {
  const HostSide side = this->side();
  const tcp::Config one = side.config_for(key(1), 0, now_);
  const tcp::Config other = side.config_for(key(2), 0, now_);
  EXPECT_NE(one.initial_sequence, other.initial_sequence);
  EXPECT_NE(one.timestamp_offset, other.timestamp_offset);
  const tcp::Config later = side.config_for(key(1), 0, now_ + Duration::seconds(1));
  EXPECT_NE(one.initial_sequence, later.initial_sequence) << "RFC 6528";
  EXPECT_EQ(one.timestamp_offset, later.timestamp_offset) << "RFC 7323: for a 4-tuple, always";
}

TEST_F(HostSideTest, TheOperatorsChoiceHoldsFromThenOn) {
  HostSide side = this->side();
  config::Gateway chosen;
  chosen.tcp.congestion = config::Congestion::kNewReno;
  chosen.tcp.ecn = false;
  chosen.limits.half_close_timeout = Duration::seconds(36'000);
  side.choose(chosen);
  const tcp::Config config = side.config_for(key(1), 0, now_);
  EXPECT_EQ(config.congestion, control::Congestion::kNewReno);
  EXPECT_FALSE(config.ecn);
  EXPECT_EQ(config.half_closed, Duration::seconds(72'000)) << "longer than until the host is asked";
}

}  // namespace
}  // namespace satrelay::gateway::host_side_test
