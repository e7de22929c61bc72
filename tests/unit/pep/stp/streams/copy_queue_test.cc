// The copies of bytes that were lost again and again leave at a distance from each other.
#include "pep/stp/streams/copy_queue.h"

#include <gtest/gtest.h>

#include "pep/stp/streams/lost_ranges.h"

namespace satrelay::stp::copy_queue_test {
namespace {

TEST(CopyQueueTest, CopiesGrowWithTheLosses) {
  EXPECT_EQ(CopyQueue::copies(2), 0U);
  EXPECT_EQ(CopyQueue::copies(3), 1U);
  EXPECT_EQ(CopyQueue::copies(LostRanges::kMaxLosses), 3U);
}

TEST(CopyQueueTest, IsAQueueWithALimit) {
  CopyQueue queue;
  for (std::uint64_t i = 0; i < CopyQueue::kRoom + 10; ++i) {
    queue.push({.offset = i, .due = Instant()});
  }
  for (std::uint64_t i = 0; i < CopyQueue::kRoom; ++i) {
    EXPECT_EQ(queue.front().offset, i);
    queue.pop();
  }
  EXPECT_TRUE(queue.empty());
  queue.push({.offset = 7, .due = Instant()});
  EXPECT_EQ(queue.front().offset, 7U);
}

}  // namespace
}  // namespace satrelay::stp::copy_queue_test
