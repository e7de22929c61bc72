// The path without a queue.
#include "pep/control/capacity/path_estimate.h"

#include <gtest/gtest.h>

namespace satrelay::control::test::path_estimate_test {
namespace {

constexpr Instant at(std::int64_t s) { return Instant() + Duration::seconds(s); }
constexpr Duration ms(std::int64_t n) { return Duration::milliseconds(n); }
constexpr BitRate kMegabit = BitRate::bits_per_second(1'000'000);

TEST(PathEstimate, KeepsTheShortestRoundTripOfTheLastSeconds) {
  PathEstimate path;
  path.restart(ms(500), at(1));
  path.add_rtt(ms(600), at(2));
  EXPECT_EQ(path.rtt(), ms(500));
  path.add_rtt(ms(480), at(3));
  EXPECT_EQ(path.rtt(), ms(480));
  // The path has become longer. The shorter one is out of date after 10 to 20 s.
  for (std::int64_t s = 12; s < 40; ++s) path.add_rtt(ms(700), at(s));
  EXPECT_EQ(path.rtt(), ms(700));
}

TEST(PathEstimate, AReportWithoutARoundTripChangesNothing) {
  PathEstimate path;
  path.restart(ms(500), at(1));
  path.add_rtt(ms(0), at(60));
  EXPECT_EQ(path.rtt(), ms(500));
}

TEST(PathEstimate, MoreWasSentThanArrivesIfThePathLosesSome) {
  PathEstimate path;
  path.restart(ms(500), at(1));
  EXPECT_EQ(path.sent_for(kMegabit, kMegabit.scaled(10, 1)), kMegabit);
  for (int i = 0; i < 100; ++i) path.add_packets(1000, 200);
  EXPECT_NEAR(path.loss(), 0.2, 0.001);
  const BitRate sent = path.sent_for(kMegabit, kMegabit.scaled(10, 1));
  EXPECT_NEAR(static_cast<double>(sent.to_bits_per_second()), 1.25e6, 1e3);
  EXPECT_EQ(path.sent_for(kMegabit, kMegabit), kMegabit) << "no more than the limit";
}

TEST(PathEstimate, ALossOfMoreThanHalfIsNotBelieved) {
  PathEstimate path;
  path.restart(ms(500), at(1));
  for (int i = 0; i < 100; ++i) path.add_packets(1000, 900);
  EXPECT_EQ(path.sent_for(kMegabit, kMegabit.scaled(10, 1)), kMegabit.scaled(2, 1));
}

}  // namespace
}  // namespace satrelay::control::test::path_estimate_test
