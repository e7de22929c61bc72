// Whether another sender fills a queue that a drain did not remove.
#include "pep/control/capacity/finder/drained_queue.h"

#include <gtest/gtest.h>

namespace satrelay::control::test::drained_queue_test {
namespace {

constexpr Duration ms(std::int64_t n) { return Duration::milliseconds(n); }
constexpr Instant at(std::int64_t n) { return Instant() + ms(n); }
constexpr Duration kTrain = Duration::milliseconds(30);

TEST(DrainedQueue, NoDrainHasNoResult) {
  DrainedQueue queue;
  EXPECT_FALSE(queue.is_foreign(ms(500), at(1000), kTrain));
}

TEST(DrainedQueue, OneThatStandsAfterItsTimeIsOfAnotherSender) {
  DrainedQueue queue;
  queue.begin(ms(100), at(1000));
  EXPECT_FALSE(queue.is_foreign(ms(200), at(900), kTrain)) << "sent before the drain";
  EXPECT_FALSE(queue.is_foreign(ms(190), at(1229), kTrain)) << "ours may still be there";
  EXPECT_TRUE(queue.is_foreign(ms(190), at(1230), kTrain));
  EXPECT_FALSE(queue.is_foreign(ms(190), at(1240), kTrain)) << "true once";
}

TEST(DrainedQueue, AShortRestIsOurOwn) {
  DrainedQueue queue;
  queue.begin(ms(100), at(1000));
  EXPECT_FALSE(queue.is_foreign(ms(60), at(1200), kTrain));
  EXPECT_TRUE(queue.began().is_never()) << "the result is known";
}

}  // namespace
}  // namespace satrelay::control::test::drained_queue_test
