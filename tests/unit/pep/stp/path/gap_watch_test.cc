// When a gap in the peer's packets is certain.
#include "pep/stp/path/gap_watch.h"

#include <gtest/gtest.h>

namespace satrelay::stp::gap_watch_test {
namespace {

TEST(GapWatchTest, AGapIsCertainOnceThreeLaterPacketsHaveCome) {
  GapWatch gap;
  EXPECT_FALSE(gap.on_recorded(5, 6)) << "there is none";
  EXPECT_TRUE(gap.on_gap(8));  // 7 is missing
  EXPECT_FALSE(gap.on_recorded(8, 9));
  EXPECT_FALSE(gap.on_recorded(9, 10));
  EXPECT_TRUE(gap.on_recorded(10, 11));
  EXPECT_FALSE(gap.watches());
  EXPECT_FALSE(gap.on_recorded(11, 12)) << "said once";
}

TEST(GapWatchTest, OneThatIsFilledIsForgotten) {
  GapWatch gap;
  EXPECT_TRUE(gap.on_gap(8));
  EXPECT_FALSE(gap.on_recorded(8, 9));
  EXPECT_FALSE(gap.on_recorded(7, 9));
  EXPECT_FALSE(gap.watches());
  EXPECT_FALSE(gap.on_recorded(20, 21));
}

TEST(GapWatchTest, TheFirstOfSeveralIsWatched) {
  GapWatch gap;
  EXPECT_TRUE(gap.on_gap(8));
  EXPECT_FALSE(gap.on_recorded(8, 9));
  EXPECT_FALSE(gap.on_gap(10));  // 9 is missing
  EXPECT_TRUE(gap.on_recorded(10, 11)) << "7 is certain now";
  EXPECT_TRUE(gap.on_gap(14));
}

TEST(GapWatchTest, OfAWideGapTheTopmostPacketBecomesCertainLast) {
  GapWatch gap;
  EXPECT_TRUE(gap.on_gap(100));  // all packets below it are missing
  EXPECT_FALSE(gap.on_recorded(100, 101));
  EXPECT_FALSE(gap.on_recorded(98, 101)) << "not the topmost";
  EXPECT_FALSE(gap.on_recorded(99, 101)) << "now it is filled";
  EXPECT_FALSE(gap.watches());
}

}  // namespace
}  // namespace satrelay::stp::gap_watch_test
