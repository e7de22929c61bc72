#include "pep/control/capacity/standing_queue.h"

#include <gtest/gtest.h>

namespace satrelay::control::test::standing_queue_test {
namespace {

constexpr Duration kSpan = Duration::milliseconds(250);

// A packet each 25 ms. `delay` gives the delay of each packet, in milliseconds.
template <typename Delay>
void feed(StandingQueue& queue, Instant& now, int packets, Delay&& delay) {
  for (int i = 0; i < packets; ++i) {
    now += Duration::milliseconds(25);
    queue.add({now, now + Duration::milliseconds(delay(i)), ByteCount(0)}, kSpan);
  }
}

TEST(StandingQueue, IsWhatNoPacketOfASpanWasSpared) {
  StandingQueue queue;
  Instant now = Instant() + Duration::seconds(1);
  feed(queue, now, 20, [](int) { return 275; });
  EXPECT_EQ(queue.length(), Duration::zero());
  // Bursts that drain again.
  feed(queue, now, 20, [](int i) { return i % 5 == 0 ? 275 : 305; });
  EXPECT_LT(queue.length(), Duration::milliseconds(1));
  feed(queue, now, 30, [](int i) { return i % 5 == 0 ? 295 : 305; });
  EXPECT_GT(queue.length(), Duration::milliseconds(19));
  EXPECT_LE(queue.length(), Duration::milliseconds(20));
  feed(queue, now, 1, [](int) { return 275; });
  EXPECT_EQ(queue.length(), Duration::zero());
}

TEST(StandingQueue, APathMayBecomeShorterByItselfAndLongerByWord) {
  StandingQueue queue;
  Instant now = Instant() + Duration::seconds(1);
  feed(queue, now, 20, [](int) { return 275; });
  feed(queue, now, 1, [](int) { return 250; });
  EXPECT_EQ(queue.path(), Duration::milliseconds(250));
  feed(queue, now, 30, [](int) { return 280; });
  EXPECT_GT(queue.length(), Duration::milliseconds(29));
  queue.lengthen_path(queue.length());
  feed(queue, now, 1, [](int) { return 280; });
  EXPECT_LT(queue.length(), Duration::milliseconds(1));
}

// Clocks that differ by 100 ppm are 360 ms apart after an hour. That is no queue.
TEST(StandingQueue, ClocksMayRunApart) {
  StandingQueue queue;
  Instant now = Instant() + Duration::seconds(1);
  for (int i = 0; i < 3600 * 4; ++i) {
    now += Duration::milliseconds(250);
    queue.add({now, now + Duration::microseconds(275'000 + 25 * i), ByteCount(0)}, kSpan);
    ASSERT_LT(queue.length(), Duration::milliseconds(1));
  }
}

}  // namespace
}  // namespace satrelay::control::test::standing_queue_test
