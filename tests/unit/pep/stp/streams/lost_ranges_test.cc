// Lost bytes, which leave in the order of how often they were lost.
#include "pep/stp/streams/lost_ranges.h"

#include <gtest/gtest.h>

namespace satrelay::stp::lost_ranges_test {
namespace {

TEST(LostRangesTest, WhatWasLostMostOftenComesFirst) {
  LostRanges lost;
  lost.insert(100, 200, 1);
  lost.insert(300, 400, 3);
  lost.insert(200, 300, 2);
  EXPECT_EQ(lost.first().range, (Range{300, 400}));
  EXPECT_EQ(lost.first().losses, 3U);
  lost.erase(250, 400);
  EXPECT_EQ(lost.first().range, (Range{200, 250}));
  EXPECT_EQ(lost.first().losses, 2U);
  lost.erase(0, 250);
  EXPECT_TRUE(lost.empty());
}

}  // namespace
}  // namespace satrelay::stp::lost_ranges_test
