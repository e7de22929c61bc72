// Which packets may have left later than their time of sending says.
#include "pep/stp/path/late_sendings.h"

#include <gtest/gtest.h>

namespace satrelay::stp::late_sendings_test {
namespace {

constexpr Instant at(std::int64_t ms) { return Instant::from_nanoseconds(ms * 1'000'000); }
constexpr Duration ms(std::int64_t n) { return Duration::milliseconds(n); }

TEST(LateSendingsTest, OnlyWhatWasWrittenMeanwhileIsLate) {
  LateSendings late;
  EXPECT_EQ(late.lateness(at(0)), ms(0));
  late.add(at(100), at(150));
  EXPECT_EQ(late.lateness(at(99)), ms(0));
  EXPECT_EQ(late.lateness(at(100)), ms(50));
  EXPECT_EQ(late.lateness(at(110)), ms(40));
  EXPECT_EQ(late.lateness(at(151)), ms(0));
}

TEST(LateSendingsTest, TheLatestAreRemembered) {
  LateSendings late;
  for (int i = 0; i < 100; ++i) late.add(at(i * 100), at(i * 100 + 50));
  EXPECT_EQ(late.lateness(at(9'900)), ms(50));
  EXPECT_EQ(late.lateness(at(3'600)), ms(50));
  EXPECT_EQ(late.lateness(at(3'500)), ms(0));
}

}  // namespace
}  // namespace satrelay::stp::late_sendings_test
