#include "pep/base/recent_count.h"

#include <gtest/gtest.h>

namespace satrelay {
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

}  // namespace
}  // namespace satrelay
