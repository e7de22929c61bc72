#include "relay/gateway/opening/recent_connections.h"

#include <gtest/gtest.h>

namespace satrelay::gateway::recent_connections_test {
namespace {

FlowKey flow(std::uint16_t port) {
  FlowKey key;
  key.local = IpAddress::v4({203, 0, 113, 5});
  key.remote = IpAddress::v4({198, 51, 100, 5});
  key.local_port = port;
  key.remote_port = 80;
  return key;
}

TEST(RecentConnections, KnowsRepetitionsForAsLongAsHostsMakeThem) {
  RecentConnections syns({1, 2}, RecentConnections::kRepetitions);
  const Instant now = Instant() + Duration::seconds(1);
  syns.remember(flow(1), 100, now);
  EXPECT_TRUE(syns.recalls(flow(1), 100, now + Duration::seconds(119)));
  EXPECT_FALSE(syns.recalls(flow(1), 101, now));
  EXPECT_FALSE(syns.recalls(flow(2), 100, now));
  EXPECT_FALSE(syns.recalls(flow(1), 100, now + RecentConnections::kRepetitions));
}

// The table is empty after the latest of its times, and not after that of the entry that was last
// renewed.
TEST(RecentConnections, IsNotEmptyWhileAnyIsRemembered) {
  RecentConnections syns({1, 2}, RecentConnections::kRepetitions);
  const Instant now = Instant() + Duration::seconds(1);
  EXPECT_FALSE(syns.recalls(flow(1), 100, now));
  syns.remember(flow(1), 100, now);
  syns.remember(flow(2), 200, now + Duration::seconds(60));
  syns.forget(flow(2));
  EXPECT_TRUE(syns.recalls(flow(1), 100, now + Duration::seconds(119)));
}

// A forgotten connection would be relayed, although its server has answered already. Then both
// hosts would be reset.
TEST(RecentConnections, OneSynDoesNotMakeItForgetAnother) {
  RecentConnections syns({1, 2}, RecentConnections::kRepetitions);
  Instant now = Instant() + Duration::seconds(1);
  constexpr std::uint16_t kFlows = 200;
  for (std::uint16_t port = 1; port <= kFlows; ++port) {
    syns.remember(flow(port), port, now += Duration::milliseconds(1));
  }
  for (std::uint16_t port = 1; port <= kFlows; ++port) {
    EXPECT_TRUE(syns.recalls(flow(port), port, now)) << port;
  }
}

// A crowd of connections that the flow table has no room for is bridged to its end.
TEST(RecentConnections, KnowsAsManyAsItIsMadeFor) {
  constexpr std::uint32_t kMany = 20'000;
  RecentConnections syns({1, 2}, RecentConnections::kRepetitions, kMany);
  const Instant now = Instant() + Duration::seconds(1);
  const auto nth = [](std::uint32_t i) {
    FlowKey key = flow(static_cast<std::uint16_t>(i % 10'000 + 1));
    key.remote_port = static_cast<std::uint16_t>(i / 10'000);
    return key;
  };
  for (std::uint32_t i = 0; i < kMany; ++i) syns.remember(nth(i), i, now);
  std::uint32_t known = 0;
  for (std::uint32_t i = 0; i < kMany; ++i) known += syns.recalls(nth(i), i, now) ? 1 : 0;
  EXPECT_GT(known, kMany - kMany / 1'000);
}

}  // namespace
}  // namespace satrelay::gateway::recent_connections_test
