#include "pep/base/recent_count.h"

#include <gtest/gtest.h>

namespace satrelay::recent_count_test {
namespace {

constexpr Duration kPeriod = Duration::milliseconds(100);
constexpr Instant at(std::int64_t ms) { return Instant::from_nanoseconds(ms * 1'000'000); }

TEST(RecentCountTest, HoldsOneToTwoPeriods) {
  RecentCount count;
  count.add(10, kPeriod, at(1000));
  count.add(5, kPeriod, at(1099));
  EXPECT_EQ(count.amount(kPeriod, at(1099)), 15U);
  count.add(1, kPeriod, at(1100));
  EXPECT_EQ(count.amount(kPeriod, at(1199)), 16U);
  EXPECT_EQ(count.amount(kPeriod, at(1200)), 1U);
  EXPECT_EQ(count.amount(kPeriod, at(1300)), 0U);
}

TEST(RecentCountTest, NothingIsLeftAfterAPause) {
  RecentCount count;
  count.add(10, kPeriod, at(1000));
  EXPECT_EQ(count.amount(kPeriod, at(1200)), 0U);
  EXPECT_EQ(RecentCount().amount(kPeriod, at(5)), 0U);
}

// A steady rate is reported correctly at any moment of a period.
TEST(RecentCountTest, TellsWhatThatMakesInAPeriod) {
  RecentCount count;
  std::int64_t ms = 1000;
  for (; ms < 1400; ++ms) count.add(10, kPeriod, at(ms));
  for (; ms < 1700; ++ms) {
    count.add(10, kPeriod, at(ms));
    EXPECT_NEAR(static_cast<double>(count.in_a_period(kPeriod, at(ms))), 1000, 15) << ms;
  }
}

TEST(RecentCountTest, WhatHasJustBegunIsNotTakenToGoOn) {
  RecentCount count;
  EXPECT_EQ(count.in_a_period(kPeriod, at(1000)), 0U);
  count.add(50, kPeriod, at(1000));
  EXPECT_EQ(count.in_a_period(kPeriod, at(1000)), 50U);
  EXPECT_EQ(count.in_a_period(kPeriod, at(1099)), 50U);
  EXPECT_EQ(count.in_a_period(kPeriod, at(1100)), 50U) << "50 in a period that is over";
  EXPECT_EQ(count.in_a_period(kPeriod, at(1150)), 33U);
  EXPECT_EQ(count.in_a_period(kPeriod, at(1200)), 0U);
}

}  // namespace
}  // namespace satrelay::recent_count_test
