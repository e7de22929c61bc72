// CLOSE is said a few times, and again to a peer that has missed it.
#include "pep/stp/connection/farewell.h"

#include <gtest/gtest.h>

namespace satrelay::stp::farewell_test {
namespace {

constexpr Instant at(std::int64_t ms) { return Instant::from_nanoseconds(ms * 1'000'000); }

TEST(FarewellTest, IsSaidAFewTimesUnderNewNumbers) {
  Farewell farewell;
  EXPECT_FALSE(farewell.said());
  EXPECT_FALSE(farewell.due());
  farewell.begin(40, true);
  EXPECT_TRUE(farewell.said());
  for (std::uint64_t i = 0; i < Farewell::kPackets; ++i) {
    ASSERT_TRUE(farewell.due());
    EXPECT_EQ(farewell.number(), 40 + i);
    farewell.on_turn(at(1000));
    farewell.on_sent();
  }
  EXPECT_FALSE(farewell.due());
}

TEST(FarewellTest, IsRepeatedToWhoHasMissedItButNotForEachPacket) {
  Farewell farewell;
  farewell.begin(40, true);
  while (farewell.due()) farewell.on_turn(at(1000));
  farewell.on_heard(at(1099));
  EXPECT_FALSE(farewell.due());
  farewell.on_heard(at(1100));
  EXPECT_TRUE(farewell.due());
  farewell.on_turn(at(1100));
  farewell.on_heard(at(1150));
  EXPECT_FALSE(farewell.due());
}

TEST(FarewellTest, NobodyIsToldWhereThereIsNobody) {
  Farewell farewell;
  farewell.begin(0, false);
  EXPECT_TRUE(farewell.said());
  EXPECT_FALSE(farewell.due());
}

}  // namespace
}  // namespace satrelay::stp::farewell_test
