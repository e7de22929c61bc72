#include "relay/gateway/flows/wait_sample.h"

#include <gtest/gtest.h>

namespace satrelay::gateway::wait_sample_test {
namespace {

constexpr Instant at(std::int64_t ms) { return Instant() + Duration::milliseconds(ms); }

TEST(WaitSample, WatchesTheLatestByteUntilItHasLeft) {
  WaitSample sample;
  sample.begin(1'000, 500, at(0));
  EXPECT_FALSE(sample.end(1'499, at(10)));
  EXPECT_EQ(sample.end(1'500, at(20)), Duration::milliseconds(20));
  EXPECT_FALSE(sample.end(2'000, at(30))) << "it is told once";
}

TEST(WaitSample, BytesThatComeMeanwhileAreNotWatched) {
  WaitSample sample;
  sample.begin(0, 100, at(0));
  sample.begin(50, 1'000, at(5));
  EXPECT_EQ(sample.end(100, at(7)), Duration::milliseconds(7));
  sample.begin(100, 950, at(8));
  EXPECT_EQ(sample.end(1'050, at(9)), Duration::milliseconds(1));
}

TEST(WaitSample, WithoutABytePassedOnThereIsNone) {
  WaitSample sample;
  EXPECT_FALSE(sample.end(100, at(1)));
  sample.begin(100, 0, at(2));
  EXPECT_FALSE(sample.end(100, at(3)));
}

}  // namespace
}  // namespace satrelay::gateway::wait_sample_test
