#include "relay/ops/events/steady_rate.h"

#include <gtest/gtest.h>

namespace satrelay::ops::steady_rate_test {
namespace {

class SteadyRateTest : public testing::Test {
 protected:
  // Looks at a constant rate ten times a second, for `time`. Returns the change that was reported.
  std::optional<SteadyRate::Change> stays(std::uint64_t megabit, Duration time) {
    std::optional<SteadyRate::Change> told;
    for (const Instant end = now_ + time; now_ < end; now_ += Duration::milliseconds(100)) {
      const auto change = rate_.look(BitRate::bits_per_second(megabit * 1'000'000), now_);
      if (change) {
        EXPECT_FALSE(told) << "told twice";
        told = change;
      }
    }
    return told;
  }

  Instant now_ = Instant::from_nanoseconds(1);
  SteadyRate rate_;
};

TEST_F(SteadyRateTest, IsToldOnceItStays) {
  EXPECT_FALSE(stays(0, Duration::seconds(10))) << "not known";
  EXPECT_FALSE(stays(50, Duration::seconds(2)));
  const auto first = stays(52, Duration::seconds(10));
  ASSERT_TRUE(first);
  EXPECT_TRUE(first->before.is_zero());
  EXPECT_EQ(first->after, BitRate::bits_per_second(52'000'000));
  const auto less = stays(40, Duration::seconds(60));
  ASSERT_TRUE(less);
  EXPECT_EQ(less->before, first->after);
}

TEST_F(SteadyRateTest, WhatMovesOrComesBackIsNotTold) {
  ASSERT_TRUE(stays(50, Duration::seconds(10)));
  for (std::uint64_t megabit = 60; megabit < 200; megabit += megabit / 5) {
    EXPECT_FALSE(stays(megabit, Duration::seconds(1))) << megabit;
  }
  EXPECT_FALSE(stays(50, Duration::seconds(10))) << "it is where it was";
  EXPECT_FALSE(stays(0, Duration::seconds(10)));
  EXPECT_FALSE(stays(50, Duration::seconds(10)));
}

}  // namespace
}  // namespace satrelay::ops::steady_rate_test
