// A queue with priorities.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "pep/base/random.h"
#include "tests/unit/relay/link/harness.h"

namespace satrelay::link::frame_queue_test {
namespace {

using Fate = LinkDirection::Fate;

// At one frame a millisecond, a full frame (1538 accounted bytes) takes a millisecond.
constexpr std::uint64_t kFrameBits = 1538 * 8;
BitRate frames_per_millisecond(std::uint64_t n) {
  return BitRate::bits_per_second(n * kFrameBits * 1000);
}
Duration ms(std::int64_t n) { return Duration::milliseconds(n); }
// By the harness's clock, which starts at one second.
Duration at(std::int64_t milliseconds) { return ms(1000 + milliseconds); }

config::LinkDirection plain() {
  config::LinkDirection config;
  config.rate = frames_per_millisecond(1);
  config.delay = ms(20);
  config.queue = ByteCount(std::uint64_t{1} << 20);
  return config;
}

config::LinkDirection with_priorities(std::uint64_t frames) {
  config::LinkDirection config = plain();
  config.discipline = config::QueueDiscipline::kPriority;
  config.queue = ByteCount(frames * 1538);
  return config;
}

TEST(LinkPriorities, AFullQueueLosesTheLowestClassFirst) {
  Harness h(with_priorities(5));
  // One frame is sent at once. The others wait.
  h.offer(100, kFullFrame, 0);
  const std::uint8_t classes[] = {3, 2, 1, 0};
  for (FrameHandle i = 0; i < 4; ++i)
    EXPECT_EQ(h.offer(i, kFullFrame, classes[i]), Fate::kAccepted);
  // Each new frame of the highest class displaces a frame of the lowest class in the queue.
  for (FrameHandle i = 0; i < 3; ++i) {
    EXPECT_EQ(h.offer(10 + i, kFullFrame, 0), Fate::kAccepted);
    ASSERT_EQ(h.released.size(), i + 1);
    EXPECT_EQ(h.released.back(), i);
  }
  EXPECT_EQ(h.offer(20, kFullFrame, 0), Fate::kDropped);
  h.run_to_the_end();
  std::vector<FrameHandle> order;
  for (const Arrival& arrival : h.arrivals) order.push_back(arrival.frame);
  EXPECT_EQ(order, (std::vector<FrameHandle>{100, 3, 10, 11, 12}));
  const DirectionCounters c = h.link.counters();
  EXPECT_EQ(c.dropped_queue, 4U);
  for (const auto part : DirectionCounters::kQueueFull) EXPECT_EQ(c.*part, 1U);
}

TEST(LinkPriorities, NobodyGivesWayToItsOwnClassOrALowerOne) {
  Harness h(with_priorities(3));
  h.offer(0, kFullFrame, 0);
  EXPECT_EQ(h.offer(1, kFullFrame, 2), Fate::kAccepted);
  EXPECT_EQ(h.offer(2, kFullFrame, 2), Fate::kAccepted);
  EXPECT_EQ(h.offer(3, kFullFrame, 2), Fate::kDropped);
  EXPECT_EQ(h.offer(4, kFullFrame, 3), Fate::kDropped);
  EXPECT_TRUE(h.released.empty());
  // The newest frame of its class is dropped first.
  EXPECT_EQ(h.offer(5, kFullFrame, 1), Fate::kAccepted);
  EXPECT_EQ(h.released, (std::vector<FrameHandle>{2}));
}

TEST(LinkPriorities, NoFrameIsDroppedInVain) {
  Harness h(with_priorities(3));
  h.offer(0, kFullFrame, 0);
  h.offer(1, 600, 3);
  h.offer(2, kFullFrame, 0);
  // The frames of class 3 together are too small to make room.
  EXPECT_EQ(h.offer(3, kFullFrame + 100, 0), Fate::kDropped);
  EXPECT_TRUE(h.released.empty());
}

TEST(LinkPriorities, FramesLeaveInOrderOfArrival) {
  Harness h(with_priorities(100));
  for (FrameHandle i = 0; i < 40; ++i) h.offer(i, kFullFrame, static_cast<std::uint8_t>(i * 7 % 4));
  h.run_to_the_end();
  ASSERT_EQ(h.arrivals.size(), 40U);
  EXPECT_TRUE(std::ranges::is_sorted(h.arrivals, {}, &Arrival::frame));
}

// Each handle is returned as often as its fate says, under all faults at once.
TEST(LinkPriorities, EveryHandleComesBack) {
  config::LinkDirection config = with_priorities(12);
  config.loss = 0.05;
  config.duplicate = 0.05;
  config.reorder = 0.1;
  config.jitter = ms(3);
  config.corrupt = 0.05;
  config.rate_steps = {{at(2000), frames_per_millisecond(4)},
                       {at(6000), BitRate::bits_per_second(kFrameBits * 300)}};
  config.delay_steps = {{at(3000), ms(4)}, {at(5000), ms(30)}, {at(7000), ms(2)}};
  config.outages = {{at(4000), ms(50)}};
  Harness h(config, 7, 60);
  Random random(3);
  std::map<FrameHandle, int> owed;
  for (FrameHandle i = 0; i < 20'000; ++i) {
    switch (h.offer(i, 60 + random.below(1455), static_cast<std::uint8_t>(random.below(4)))) {
      case Fate::kDuplicated:
        owed[i] = 2;
        break;
      case Fate::kAccepted:
        owed[i] = 1;
        break;
      case Fate::kDropped:
        break;
    }
    h.run_until(h.now + Duration::microseconds(static_cast<std::int64_t>(random.below(900))));
  }
  h.run_to_the_end();
  for (const Arrival& arrival : h.arrivals) --owed[arrival.frame];
  for (const FrameHandle frame : h.released) --owed[frame];
  EXPECT_TRUE(std::ranges::all_of(owed, [](const auto& entry) { return entry.second == 0; }));
  const DirectionCounters c = h.link.counters();
  EXPECT_EQ(c.frames_out, h.arrivals.size());
  EXPECT_EQ(c.frames_in + c.duplicated,
            c.frames_out + c.dropped_queue + c.dropped_loss + c.dropped_outage + c.dropped_memory);
  for (std::size_t i = 1; i < kPriorities; ++i) {
    EXPECT_GT(c.*DirectionCounters::kQueueFull[i], c.*DirectionCounters::kQueueFull[i - 1]) << i;
  }
  EXPECT_EQ(h.link.frames_in_flight(), 0U);
}

}  // namespace
}  // namespace satrelay::link::frame_queue_test
