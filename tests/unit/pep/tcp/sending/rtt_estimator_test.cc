// The round trip, and the retransmission timeout that follows from it.
#include "pep/tcp/sending/rtt_estimator.h"

#include <gtest/gtest.h>

#include "tests/unit/pep/tcp/script.h"

namespace satrelay::tcp::test::rtt_estimator_test {
namespace {

TEST(RttEstimator, FollowsRfc6298) {
  const RttEstimator::Limits limits{ms(200), Duration::seconds(60), Duration::seconds(1)};
  RttEstimator rtt(limits);
  EXPECT_EQ(rtt.rto(), Duration::seconds(1));
  rtt.sample(ms(100), limits);  // SRTT 100, RTTVAR 50
  EXPECT_EQ(rtt.rto(), ms(300));
  rtt.sample(ms(500), limits);  // RTTVAR (3 * 50 + 400) / 4 = 137.5, SRTT 150
  EXPECT_EQ(rtt.smoothed(), ms(150));
  EXPECT_EQ(rtt.rto(), ms(700));
  rtt.back_off(limits);
  EXPECT_EQ(rtt.rto(), ms(1400));
  for (int i = 0; i < 10; ++i) rtt.back_off(limits);
  EXPECT_EQ(rtt.rto(), Duration::seconds(60));
  for (int i = 0; i < 100; ++i) rtt.sample(ms(1), limits);
  EXPECT_GE(rtt.rto(), ms(201));
  EXPECT_LT(rtt.rto(), ms(203));
}

}  // namespace
}  // namespace satrelay::tcp::test::rtt_estimator_test
