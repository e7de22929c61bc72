#include "pep/compress/effort.h"

#include <gtest/gtest.h>

namespace satrelay::compress::effort_test {
namespace {

constexpr BitRate megabits(std::uint64_t n) { return BitRate::bits_per_second(n * 1'000'000); }
constexpr Duration kWindow = Duration::milliseconds(100);

TEST(Effort, IsGreatOnSlowLinksAndSmallOnFastOnes) {
  EXPECT_EQ(level_for(megabits(1)), 9);
  EXPECT_EQ(level_for(megabits(35)), 9);
  EXPECT_EQ(level_for(megabits(50)), 5);
  EXPECT_EQ(level_for(megabits(100)), 3);
  EXPECT_EQ(level_for(megabits(1'000)), 1);
  EXPECT_EQ(level_for(megabits(10'000)), kLowestLevel);
}

TEST(Effort, YieldsWhileItTakesTooMuchOfTheTimeAndComesBack) {
  Effort effort;
  Instant now;
  EXPECT_EQ(effort.level(megabits(10)), 9);
  const auto pass = [&](int milliseconds_spent) {
    now += kWindow;
    effort.spend(Duration::milliseconds(milliseconds_spent), now);
  };
  pass(40);
  EXPECT_EQ(effort.level(megabits(10)), 8);
  pass(25);  // neither too much work nor too little
  EXPECT_EQ(effort.level(megabits(10)), 8);
  for (int i = 0; i < 100; ++i) {
    pass(40);
    EXPECT_NE(effort.level(megabits(10)), 0);  // zstd takes 0 for its default level
  }
  EXPECT_EQ(effort.level(megabits(10)), kLowestLevel);
  EXPECT_EQ(effort.level(megabits(10'000)), kLowestLevel);
  for (int i = 0; i < 100; ++i) pass(1);
  EXPECT_EQ(effort.level(megabits(10)), 9);
  EXPECT_EQ(effort.level(megabits(1'000)), 1);  // never above the level that the link justifies
}

TEST(Effort, LooksAtWholeWindows) {
  Effort effort;
  Instant now;
  for (int i = 0; i < 9; ++i) effort.spend(Duration::milliseconds(10), now += kWindow / 10);
  EXPECT_EQ(effort.level(megabits(10)), 9);
  effort.spend(Duration::milliseconds(10), now += kWindow / 10);
  EXPECT_EQ(effort.level(megabits(10)), 8);
}

}  // namespace
}  // namespace satrelay::compress::effort_test
