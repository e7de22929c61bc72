// The test of a queue that stands though the rate was lowered.
#include "pep/control/capacity/finder/queue_test.h"

#include <gtest/gtest.h>

namespace satrelay::control::test::queue_test_test {
namespace {

using Verdict = QueueTest::Verdict;
constexpr Duration ms(std::int64_t n) { return Duration::milliseconds(n); }
constexpr Instant at(std::int64_t n) { return Instant() + ms(n); }
constexpr QueueTest::Seen kSeen = {ms(40), ms(500), true};

FeedbackSample sample(std::uint64_t number, std::int64_t now, Duration delay) {
  FeedbackSample sample;
  sample.number = number;
  sample.sent = at(now - 500);
  sample.arrived = sample.sent + delay;
  sample.now = at(now);
  return sample;
}

// Lets the queue stand until the pause begins, at 3500 ms.
QueueTest paused() {
  QueueTest test;
  EXPECT_EQ(test.on_feedback(sample(1, 1000, ms(290)), kSeen), Verdict::kNone);
  test.on_feedback(sample(2, 3499, ms(290)), kSeen);
  EXPECT_FALSE(test.is_running()) << "three round trips and a second have not passed";
  test.on_feedback(sample(3, 3500, ms(290)), kSeen);
  EXPECT_TRUE(test.is_running());
  EXPECT_EQ(test.pause_until(), at(3540));
  return test;
}

TEST(QueueTestTest, AQueueIsShorterBehindThePause) {
  QueueTest test = paused();
  test.on_sent(9, at(3539));
  test.on_sent(10, at(3540));
  EXPECT_EQ(test.on_feedback(sample(9, 4040, ms(290)), kSeen), Verdict::kNone);
  EXPECT_EQ(test.on_feedback(sample(10, 4041, ms(255)), kSeen), Verdict::kQueue);
  EXPECT_FALSE(test.is_running());
}

TEST(QueueTestTest, ALongerPathIsNot) {
  QueueTest test = paused();
  test.on_sent(10, at(3540));
  EXPECT_EQ(test.on_feedback(sample(10, 4041, ms(280)), kSeen), Verdict::kLongerPath);
}

TEST(QueueTestTest, WaitsForATrain) {
  QueueTest test;
  const QueueTest::Seen busy = {ms(40), ms(500), false};
  test.on_feedback(sample(1, 1000, ms(290)), busy);
  test.on_feedback(sample(2, 9000, ms(290)), busy);
  EXPECT_FALSE(test.is_running());
}

TEST(QueueTestTest, AQueueThatShrinksIsGivenMoreTime) {
  QueueTest test;
  test.on_feedback(sample(1, 1000, ms(290)), kSeen);
  test.on_feedback(sample(2, 3000, ms(270)), {ms(20), ms(500), true});
  test.on_feedback(sample(3, 3600, ms(270)), {ms(20), ms(500), true});
  EXPECT_FALSE(test.is_running());
}

}  // namespace
}  // namespace satrelay::control::test::queue_test_test
