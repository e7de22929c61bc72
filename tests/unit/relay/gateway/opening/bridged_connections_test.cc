#include "relay/gateway/opening/bridged_connections.h"

#include <gtest/gtest.h>

#include "tests/unit/relay/gateway/frame_builder.h"

namespace satrelay::gateway::bridged_connections_test {
namespace {

constexpr Instant at(std::int64_t ms) { return Instant() + Duration::milliseconds(ms); }

class BridgedConnectionsTest : public testing::Test {
 protected:
  static FlowKey key(std::uint16_t port) {
    return {ip_of("203.0.113.5"), ip_of("198.51.100.5"), port, 80, {}};
  }
  RulePtr rule_ = std::make_shared<ActiveRule>();
  BridgedConnections connections_;
};

TEST_F(BridgedConnectionsTest, AreToldNewestFirst) {
  EXPECT_TRUE(connections_.latest().empty());
  connections_.note(key(1), Counter::kBridgedByRule, rule_, at(1));
  connections_.note(key(2), Counter::kBridgedPeerDown, rule_, at(2));
  const auto latest = connections_.latest();
  ASSERT_EQ(latest.size(), 2U);
  EXPECT_EQ(latest[0].key, key(2));
  EXPECT_EQ(latest[0].reason, Counter::kBridgedPeerDown);
  EXPECT_EQ(latest[0].at, at(2));
  EXPECT_EQ(latest[1].key, key(1));
}

TEST_F(BridgedConnectionsTest, TheSameSynAgainIsNoOtherConnection) {
  connections_.note(key(1), Counter::kBridgedPeerDown, rule_, at(1));
  connections_.note(key(1), Counter::kBridgedPeerDown, rule_, at(1'000));
  connections_.note(key(1), Counter::kBridgedByRule, rule_, at(2'000));
  const auto latest = connections_.latest();
  ASSERT_EQ(latest.size(), 2U);
  EXPECT_EQ(latest[0].syns, 1U) << "for another reason";
  EXPECT_EQ(latest[1].syns, 2U);
  EXPECT_EQ(latest[1].at, at(1'000));
}

TEST_F(BridgedConnectionsTest, AHundredAreKeptHoweverManyThereAre) {
  for (std::uint16_t i = 0; i < 60'000; ++i) {
    connections_.note(key(i), Counter::kBridgedByRule, rule_, at(i));
  }
  const auto latest = connections_.latest();
  ASSERT_EQ(latest.size(), 100U);
  EXPECT_EQ(latest.front().key, key(59'999));
  EXPECT_EQ(latest.back().key, key(59'900));
  EXPECT_EQ(rule_.use_count(), 1 + 100 + 100) << "of the ring, and of what it has told";
}

}  // namespace
}  // namespace satrelay::gateway::bridged_connections_test
