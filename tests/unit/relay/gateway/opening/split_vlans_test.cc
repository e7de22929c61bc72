#include "relay/gateway/opening/split_vlans.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/unit/relay/gateway/frame_builder.h"

namespace satrelay::gateway::split_vlans_test {
namespace {

FlowKey connection(const std::string& server, std::uint16_t vlan, std::uint16_t port = 40'000) {
  return {ip_of("10.0.0.1"), ip_of(server), port, 80, {vlan}};
}

constexpr FarGatewayId kPeer;

class SplitVlansTest : public ::testing::Test {
 protected:
  bool has(const FlowKey& key, FarGatewayId peer = kPeer) const {
    return split_.has(key, peer, now_);
  }

  SplitVlans split_{{3, 5}};
  Instant now_ = Instant() + Duration::seconds(1'000);
};

TEST_F(SplitVlansTest, APairOfHostsIsKeptInTheVlanOfItsQuestions) {
  split_.note(connection("198.51.100.1", 101), kPeer, now_);
  EXPECT_TRUE(has(connection("198.51.100.1", 101, 50'000)));
  EXPECT_FALSE(has(connection("198.51.100.1", 102)));
  EXPECT_FALSE(has(connection("198.51.100.2", 101)));
  now_ += SplitVlans::kKept;
  EXPECT_FALSE(has(connection("198.51.100.1", 101)));
}

TEST_F(SplitVlansTest, ThreeServersTellOfTheVlan) {
  for (const char* server : {"198.51.100.1", "198.51.100.2", "198.51.100.2"}) {
    split_.note(connection(server, 101), kPeer, now_);
  }
  EXPECT_FALSE(has(connection("198.51.100.9", 101))) << "two of them";
  split_.note(connection("198.51.100.3", 101), kPeer, now_);
  EXPECT_TRUE(has(connection("198.51.100.9", 101)));
  EXPECT_FALSE(has(connection("198.51.100.9", 101), FarGatewayId(1))) << "towards that peer";
  EXPECT_FALSE(has(connection("198.51.100.9", 102)));
  now_ += SplitVlans::kKept;
  EXPECT_FALSE(has(connection("198.51.100.9", 101)));
}

TEST_F(SplitVlansTest, AnswersInAnotherVlanKeepItAlive) {
  for (const char* server : {"198.51.100.1", "198.51.100.2", "198.51.100.3"}) {
    split_.note(connection(server, 101), kPeer, now_);
  }
  now_ += Duration::seconds(200);
  split_.look_at_answer(connection("198.51.100.1", 100), now_);
  split_.look_at_answer(connection("198.51.100.2", 101), now_);  // in the same VLAN again
  now_ += Duration::seconds(200);
  EXPECT_TRUE(has(connection("198.51.100.1", 101)));
  EXPECT_TRUE(has(connection("198.51.100.9", 101)));
  now_ += Duration::seconds(100);
  EXPECT_FALSE(has(connection("198.51.100.1", 101)));
  EXPECT_FALSE(has(connection("198.51.100.9", 101)));
}

TEST_F(SplitVlansTest, TheNumberOfVlansIsLimited) {
  for (std::uint16_t vlan = 1; vlan <= SplitVlans::kMostVlans + 1; ++vlan) {
    now_ += Duration::milliseconds(1);
    for (const char* server : {"198.51.100.1", "198.51.100.2", "198.51.100.3"}) {
      split_.note(connection(server, vlan), kPeer, now_);
    }
  }
  EXPECT_FALSE(has(connection("198.51.100.9", 1))) << "the first gave way";
  EXPECT_TRUE(has(connection("198.51.100.9", 2)));
}

}  // namespace
}  // namespace satrelay::gateway::split_vlans_test
