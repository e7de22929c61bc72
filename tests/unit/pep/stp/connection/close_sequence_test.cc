// CLOSE is sent a few times, and again to a peer that has missed it.
#include "pep/stp/connection/close_sequence.h"

#include <gtest/gtest.h>

namespace satrelay::stp::close_sequence_test {
namespace {

constexpr Instant at(std::int64_t ms) { return Instant::from_nanoseconds(ms * 1'000'000); }

TEST(CloseSequenceTest, IsSaidAFewTimesUnderNewNumbers) {
  CloseSequence close_sequence;
  EXPECT_FALSE(close_sequence.said());
  EXPECT_FALSE(close_sequence.due());
  close_sequence.begin(40, true);
  EXPECT_TRUE(close_sequence.said());
  for (std::uint64_t i = 0; i < CloseSequence::kPackets; ++i) {
    ASSERT_TRUE(close_sequence.due());
    EXPECT_EQ(close_sequence.number(), 40 + i);
    close_sequence.on_turn(at(1000));
    close_sequence.on_sent();
  }
  EXPECT_FALSE(close_sequence.due());
}

TEST(CloseSequenceTest, IsRepeatedToWhoHasMissedItButNotForEachPacket) {
  CloseSequence close_sequence;
  close_sequence.begin(40, true);
  while (close_sequence.due()) close_sequence.on_turn(at(1000));
  close_sequence.on_heard(at(1099));
  EXPECT_FALSE(close_sequence.due());
  close_sequence.on_heard(at(1100));
  EXPECT_TRUE(close_sequence.due());
  close_sequence.on_turn(at(1100));
  close_sequence.on_heard(at(1150));
  EXPECT_FALSE(close_sequence.due());
}

TEST(CloseSequenceTest, NobodyIsToldWhereThereIsNobody) {
  CloseSequence close_sequence;
  close_sequence.begin(0, false);
  EXPECT_TRUE(close_sequence.said());
  EXPECT_FALSE(close_sequence.due());
}

}  // namespace
}  // namespace satrelay::stp::close_sequence_test
