// Seeded random numbers.
#include "pep/base/random.h"

#include <gtest/gtest.h>

#include <array>

namespace satrelay::random_test {
namespace {

TEST(Random, RepeatsAndStaysInBounds) {
  // First values of SplitMix64 from seed 0, as published with the algorithm.
  Random zero(0);
  EXPECT_EQ(zero.next(), 0xE220A8397B1DCDAFU);
  EXPECT_EQ(zero.next(), 0x6E789E6AA1B965F4U);
  Random random(7);
  std::array<int, 10> seen{};
  for (int i = 0; i < 10'000; ++i) {
    ++seen.at(random.below(10));
    const double u = random.unit();
    ASSERT_TRUE(u >= 0 && u < 1);
  }
  for (const int count : seen) EXPECT_NEAR(count, 1000, 150);
  EXPECT_FALSE(random.chance(0));
  EXPECT_TRUE(random.chance(1));
}

}  // namespace
}  // namespace satrelay::random_test
