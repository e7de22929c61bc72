// The rates that the last trains have shown.
#include "pep/control/capacity/finder/findings.h"

#include <gtest/gtest.h>

namespace satrelay::control::test::findings_test {
namespace {

constexpr BitRate megabit(std::uint64_t n) { return BitRate::bits_per_second(n * 1'000'000); }

TEST(Findings, TheUsualOneIsTheMedianOfTheLastFive) {
  Findings findings;
  findings.add(megabit(90));
  EXPECT_EQ(findings.usual(), megabit(90));
  for (const std::uint64_t rate : {10, 30, 20, 50, 40}) findings.add(megabit(rate));
  EXPECT_EQ(findings.usual(), megabit(30)) << "the sixth last does not count";
}

TEST(Findings, TheHighestOfTheLastIsKnown) {
  Findings findings;
  for (std::uint64_t rate = 20; rate > 0; --rate) findings.add(megabit(rate));
  EXPECT_EQ(findings.most_of_last(3), megabit(3));
}

TEST(Findings, ARestartCountsFromZero) {
  Findings findings;
  for (int i = 0; i < 5; ++i) findings.add(megabit(10));
  findings.restart();
  EXPECT_EQ(findings.count(), 0U);
  findings.add(megabit(2));
  EXPECT_EQ(findings.usual(), megabit(2));
}

}  // namespace
}  // namespace satrelay::control::test::findings_test
