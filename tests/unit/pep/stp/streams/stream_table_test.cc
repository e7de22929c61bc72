// Which stream ids of the peer have been opened, in whatever order they arrive.
#include "pep/stp/streams/stream_table.h"

#include <gtest/gtest.h>

namespace satrelay::stp::stream_table_test {
namespace {

TEST(PeerIds, KnowsWhichIdsWereUsed) {
  PeerIds ids;
  EXPECT_TRUE(ids.is_new(5));
  EXPECT_TRUE(ids.mark_used(5));
  EXPECT_FALSE(ids.is_new(5));
  EXPECT_TRUE(ids.is_new(4));
  EXPECT_TRUE(ids.mark_used(4));
  EXPECT_TRUE(ids.mark_used(2));
  EXPECT_FALSE(ids.is_new(2));
  EXPECT_TRUE(ids.is_new(3));
  EXPECT_TRUE(ids.is_new(6));
}

// Every second id of the widest gap is opened. Each of them would leave one run more.
TEST(PeerIds, KeepsNoMoreRunsThanItMay) {
  PeerIds ids;
  ASSERT_TRUE(ids.mark_used(1ULL << 40));
  std::uint64_t kept = 0;
  for (std::uint64_t i = 1; i <= 2 * PeerIds::kMaxRuns; ++i) kept += ids.mark_used(2 * i) ? 1 : 0;
  EXPECT_EQ(kept, PeerIds::kMaxRuns - 1);
  EXPECT_FALSE(ids.mark_used((1ULL << 40) + 5)) << "a run more, above";
  EXPECT_TRUE(ids.mark_used((1ULL << 40) + 1)) << "none more";
  EXPECT_TRUE(ids.is_new(2 * PeerIds::kMaxRuns)) << "it may come again";
  EXPECT_TRUE(ids.mark_used(3)) << "ends a run";
  EXPECT_TRUE(ids.mark_used(2 * PeerIds::kMaxRuns)) << "in its place";
}

}  // namespace
}  // namespace satrelay::stp::stream_table_test
