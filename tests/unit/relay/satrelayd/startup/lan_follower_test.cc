#include "relay/satrelayd/startup/lan_follower.h"

#include <gtest/gtest.h>

namespace satrelay::satrelayd::lan_follower_test {
namespace {

Instant at(std::int64_t milliseconds) { return Instant() + Duration::milliseconds(milliseconds); }

TEST(LanFollower, GoesOffAfterTwoSecondsAndOnAfterFive) {
  LanFollower follower;
  EXPECT_EQ(follower.look(true, at(0)), std::nullopt);
  EXPECT_EQ(follower.look(false, at(1000)), std::nullopt);
  EXPECT_EQ(follower.look(false, at(2999)), std::nullopt);
  EXPECT_EQ(follower.look(false, at(3000)), false);
  EXPECT_EQ(follower.look(false, at(3100)), std::nullopt) << "it is said once";
  EXPECT_EQ(follower.look(true, at(10'000)), std::nullopt);
  EXPECT_EQ(follower.look(true, at(14'999)), std::nullopt);
  EXPECT_EQ(follower.look(true, at(15'000)), true);
}

TEST(LanFollower, ALinkThatComesAndGoesChangesNothing) {
  LanFollower follower;
  for (std::int64_t i = 0; i < 100; ++i) {
    EXPECT_EQ(follower.look(i % 2 == 0, at(i * 1500)), std::nullopt);
  }
}

}  // namespace
}  // namespace satrelay::satrelayd::lan_follower_test
