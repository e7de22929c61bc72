#include "relay/gateway/addresses/learned_destinations.h"

#include <gtest/gtest.h>

#include <string>

#include "relay/gateway/addresses/announced_destinations.h"
#include "tests/unit/relay/gateway/frame_builder.h"

namespace satrelay::gateway::learned_destinations_test {
namespace {

constexpr MacAddress kOne{{2, 0, 0, 0, 1, 1}};
constexpr MacAddress kTwo{{2, 0, 0, 0, 1, 2}};
constexpr MacAddress kSender{{2, 0, 0, 0, 1, 3}};

HostPair pair_with(std::string_view there, std::uint16_t vlan = 7) {
  return {{ip_of("203.0.113.5"), {vlan, 0}}, ip_of(there)};
}

class LearnedDestinationsTest : public testing::Test {
 protected:
  LearnedDestinations heard{HashKey{1, 2}};
  HostPair hosts = pair_with("198.51.100.5");
  Instant now = Instant::from_nanoseconds(1);
};

TEST_F(LearnedDestinationsTest, EachChangeIsAClaimOfItsOwn) {
  EXPECT_FALSE(heard.find(hosts, now));
  heard.hear(hosts, kOne, now);
  const auto first = heard.find(hosts, now);
  ASSERT_TRUE(first);
  EXPECT_EQ(first->mac, kOne);
  heard.hear(hosts, kOne, now);
  EXPECT_EQ(heard.find(hosts, now)->claim, first->claim) << "the same again";
  heard.hear(hosts, kTwo, now);
  EXPECT_EQ(heard.find(hosts, now)->mac, kTwo);
  EXPECT_NE(heard.find(hosts, now)->claim, first->claim);
}

TEST_F(LearnedDestinationsTest, IsForThoseTwoHostsAlone) {
  heard.hear(hosts, kOne, now);
  EXPECT_FALSE(heard.find(pair_with("198.51.100.6"), now));
  EXPECT_FALSE(heard.find(pair_with("198.51.100.5", 8), now));
  EXPECT_FALSE(heard.find(hosts, now + LearnedDestinations::kKept));
}

TEST_F(LearnedDestinationsTest, LeadsNewConnectionsOnceAFlowHasShownIt) {
  heard.hear(hosts, kOne, now);
  EXPECT_EQ(heard.receiver(hosts, kSender, now), kSender);
  heard.note_receiver(hosts, kSender, kOne);
  EXPECT_EQ(heard.receiver(hosts, kSender, now), kOne);
  EXPECT_EQ(heard.receiver(hosts, kTwo, now), kTwo) << "a host that sends by another MAC";
  EXPECT_EQ(heard.receiver(hosts, kSender, now + LearnedDestinations::kKept), kSender);
  heard.note_receiver(hosts, kSender, kSender);
  EXPECT_EQ(heard.receiver(hosts, kSender, now), kSender);
  heard.note_receiver(hosts, kSender, kOne);
  heard.hear(hosts, kTwo, now);
  EXPECT_EQ(heard.receiver(hosts, kSender, now), kSender) << "nobody has shown that";
}

TEST(ToldDestinationsTest, AChangeIsToldOnceAndAgainAfterAMinute) {
  using Listener = AnnouncedDestinations::Listener;
  AnnouncedDestinations told{HashKey{1, 2}};
  const HostPair hosts = pair_with("198.51.100.5");
  const Listener peer{.lane = LaneId(1), .streams_gone = 0};
  Instant now = Instant::from_nanoseconds(1);
  EXPECT_TRUE(told.is_news(peer, hosts, kOne, now));
  told.note(peer, hosts, kOne, now);
  EXPECT_FALSE(told.is_news(peer, hosts, kOne, now));
  EXPECT_TRUE(told.is_news(peer, hosts, kTwo, now));
  EXPECT_TRUE(told.is_news(peer, pair_with("198.51.100.6"), kOne, now));
  EXPECT_TRUE(told.is_news({.lane = LaneId(2), .streams_gone = 0}, hosts, kOne, now))
      << "another worker of the peer";
  EXPECT_TRUE(told.is_news({.lane = LaneId(1), .streams_gone = 1}, hosts, kOne, now))
      << "it was started anew";
  now += AnnouncedDestinations::kAgain;
  EXPECT_TRUE(told.is_news(peer, hosts, kOne, now));
}

TEST(ToldDestinationsTest, LanesDoNotTakeEachOthersPlaces) {
  AnnouncedDestinations told{HashKey{1, 2}};
  const HostPair hosts = pair_with("198.51.100.5");
  const Instant now = Instant::from_nanoseconds(1);
  for (std::uint32_t lane = 0; lane < 16; ++lane) told.note({LaneId(lane), 0}, hosts, kOne, now);
  for (std::uint32_t lane = 0; lane < 16; ++lane) {
    EXPECT_FALSE(told.is_news({LaneId(lane), 0}, hosts, kOne, now)) << lane;
  }
}

}  // namespace
}  // namespace satrelay::gateway::learned_destinations_test
