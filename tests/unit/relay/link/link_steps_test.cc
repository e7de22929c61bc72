// A link direction that changes while it runs, and queues that know priorities.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "pep/base/random.h"
#include "relay/link/capacity.h"
#include "tests/unit/relay/link/harness.h"

namespace satrelay::link {
namespace {

using Fate = LinkDirection::Fate;

// 1538 accounted bytes take a millisecond.
constexpr std::uint64_t kFrameBits = 1538 * 8;
BitRate frames_per_millisecond(std::uint64_t n) {
  return BitRate::bits_per_second(n * kFrameBits * 1000);
}
Duration ms(std::int64_t n) { return Duration::milliseconds(n); }
// Of the harness's clock, which starts at one second.
Duration at(std::int64_t milliseconds) { return ms(1000 + milliseconds); }

config::LinkDirection plain() {
  config::LinkDirection config;
  config.rate = frames_per_millisecond(1);
  config.delay = ms(20);
  config.queue = ByteCount(std::uint64_t{1} << 20);
  return config;
}

TEST(LinkSteps, ARateStepHoldsForFramesThatWait) {
  config::LinkDirection config = plain();
  config.rate_steps = {{at(5), BitRate::bits_per_second(kFrameBits * 100)},
                       {at(45), frames_per_millisecond(2)}};
  Harness h(config);
  const Instant start = h.now;
  for (FrameHandle i = 0; i < 20; ++i) EXPECT_EQ(h.offer(i), Fate::kAccepted);
  EXPECT_EQ(h.link.queue_delay(h.now), ms(20));
  h.run_until(start + ms(5));
  // Fifteen are left, of ten milliseconds each now.
  EXPECT_EQ(h.link.queue_delay(h.now), ms(150));
  h.run_to_the_end();
  ASSERT_EQ(h.arrivals.size(), 20U);
  EXPECT_EQ(h.arrivals[4].at - start, ms(25));
  EXPECT_EQ(h.arrivals[5].at - start, ms(35));
  EXPECT_EQ(h.arrivals[8].at - start, ms(65));
  // The last eleven at half a millisecond each.
  EXPECT_EQ(h.arrivals[9].at - start, ms(65) + Duration::microseconds(500));
  EXPECT_EQ(h.arrivals[19].at - start, ms(65) + Duration::microseconds(5500));
  EXPECT_EQ(h.link.take_queue_peak(), ms(45) + Duration::microseconds(5500));
  EXPECT_EQ(h.link.take_queue_peak(), Duration::zero());
}

TEST(LinkSteps, LossStepsReplaceWhatWasBefore) {
  config::LinkDirection config = plain();
  config.loss_trace = config::LossTrace{.lost = {0}, .period = 2};
  config.loss_steps = {{at(100), 0.0}, {at(200), 1.0}, {at(300), 0.0}};
  Harness h(config);
  h.offer_stream(400, ms(1));
  // A frame is judged when its last bit leaves, a millisecond after it came.
  const auto arrived = [&](FrameHandle from, FrameHandle to) {
    return std::ranges::count_if(h.arrivals,
                                 [&](const Arrival& a) { return a.frame >= from && a.frame < to; });
  };
  EXPECT_EQ(arrived(0, 98), 49);
  EXPECT_EQ(arrived(99, 199), 100);
  EXPECT_EQ(arrived(199, 299), 0);
  EXPECT_EQ(arrived(299, 400), 101);
}

TEST(LinkSteps, RateIsExactThoughFramesWait) {
  config::LinkDirection config = plain();
  config.rate = BitRate::bits_per_second(10'000'000'000);  // 1230.4 ns a frame
  config.rate_steps = {{Duration::seconds(1000), config.rate}};
  config.queue = ByteCount(std::uint64_t{1} << 30);
  Harness h(config);
  const Instant start = h.now;
  for (FrameHandle i = 0; i < 50'000; ++i) ASSERT_EQ(h.offer(i), Fate::kAccepted);
  h.run_to_the_end();
  EXPECT_NEAR(static_cast<double>((h.arrivals.back().at - start).to_nanoseconds()),
              static_cast<double>((ms(20) + Duration::nanoseconds(61'520'000)).to_nanoseconds()),
              1.0);
}

TEST(LinkSteps, AFallingDelayLetsLaterFramesOvertake) {
  config::LinkDirection config = plain();
  config.delay_steps = {{at(10), ms(5)}, {at(30), ms(40)}};
  Harness h(config);
  h.offer_stream(50, ms(1));
  ASSERT_EQ(h.arrivals.size(), 50U);
  std::map<FrameHandle, Instant> arrived;
  for (const Arrival& arrival : h.arrivals) arrived[arrival.frame] = arrival.at;
  const Instant start = Instant::from_nanoseconds(1'000'000'000);
  // Frame i leaves at i + 1 ms.
  EXPECT_EQ(arrived[8] - start, ms(29));
  EXPECT_EQ(arrived[9] - start, ms(15));
  EXPECT_EQ(arrived[28] - start, ms(34));
  EXPECT_EQ(arrived[29] - start, ms(70));
  EXPECT_FALSE(std::ranges::is_sorted(h.arrivals, {}, &Arrival::frame));
  EXPECT_TRUE(std::ranges::is_sorted(h.arrivals, {}, &Arrival::at));
}

TEST(LinkSteps, OrderIsKeptIfAskedFor) {
  config::LinkDirection config = plain();
  config.delay_steps = {{at(10), ms(5)}};
  config.delay_order = config::DelayOrder::kKept;
  Harness h(config);
  h.offer_stream(50, ms(1));
  ASSERT_EQ(h.arrivals.size(), 50U);
  EXPECT_TRUE(std::ranges::is_sorted(h.arrivals, {}, &Arrival::frame));
  const Instant start = Instant::from_nanoseconds(1'000'000'000);
  EXPECT_EQ(h.arrivals[9].at - start, ms(29));   // waits for the last one that took longer
  EXPECT_EQ(h.arrivals[30].at - start, ms(36));  // 31 + 5: the step has worked off
}

TEST(LinkSteps, WhatLeavesDuringAnOutageIsLost) {
  config::LinkDirection config = plain();
  config.outages = {{at(10), ms(5)}, {at(30), ms(1)}};
  Harness h(config);
  h.offer_stream(50, ms(1));
  EXPECT_EQ(h.link.counters().dropped_outage, 6U);
  EXPECT_EQ(h.arrivals.size(), 44U);
  for (const Arrival& arrival : h.arrivals) {
    EXPECT_TRUE(arrival.frame < 9 || arrival.frame > 13) << arrival.frame;
    EXPECT_NE(arrival.frame, 29U);
  }
}

TEST(LinkSteps, ATraceSaysWhichFramesAreLost) {
  config::LinkDirection config = plain();
  config.loss = 0.5;  // counts for nothing beside it
  config.loss_trace = config::LossTrace{.lost = {0, 3, 4}, .period = 10};
  Harness h(config);
  h.offer_stream(25, ms(2));
  std::vector<FrameHandle> missing;
  for (FrameHandle i = 0; i < 25; ++i) {
    if (std::ranges::find(h.arrivals, i, &Arrival::frame) == h.arrivals.end()) missing.push_back(i);
  }
  EXPECT_EQ(missing, (std::vector<FrameHandle>{0, 3, 4, 10, 13, 14, 20, 23, 24}));
  config.loss_trace->period = 0;
  Harness once(config);
  once.offer_stream(25, ms(2));
  EXPECT_EQ(once.link.counters().dropped_loss, 3U);
}

TEST(LinkSteps, PacketsBeyondTheMtuAreDropped) {
  config::LinkDirection config = plain();
  config.mtu = 1400;
  Harness h(config);
  EXPECT_EQ(h.offer(0, 14 + 1400), Fate::kAccepted);
  EXPECT_EQ(h.offer(1, 14 + 1401), Fate::kDropped);
  EXPECT_EQ(h.link.counters().dropped_mtu, 1U);
}

config::LinkDirection with_priorities(std::uint64_t frames) {
  config::LinkDirection config = plain();
  config.discipline = config::QueueDiscipline::kPriority;
  config.queue = ByteCount(frames * 1538);
  return config;
}

TEST(LinkPriorities, AFullQueueLosesTheLowestClassFirst) {
  Harness h(with_priorities(5));
  // One is sent at once; the others wait.
  h.offer(100, kFullFrame, 0);
  const std::uint8_t classes[] = {3, 2, 1, 0};
  for (FrameHandle i = 0; i < 4; ++i)
    EXPECT_EQ(h.offer(i, kFullFrame, classes[i]), Fate::kAccepted);
  // Each newcomer of the highest class displaces the lowest that is left.
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
  // The newest of its class goes first.
  EXPECT_EQ(h.offer(5, kFullFrame, 1), Fate::kAccepted);
  EXPECT_EQ(h.released, (std::vector<FrameHandle>{2}));
}

TEST(LinkPriorities, NoFrameIsDroppedInVain) {
  Harness h(with_priorities(3));
  h.offer(0, kFullFrame, 0);
  h.offer(1, 600, 3);
  h.offer(2, kFullFrame, 0);
  // What class 3 holds would not make room enough.
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

// Each handle comes back as often as its fate said, under every fault at once.
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

TEST(LinkCapacity, FollowsFromTheLargestRateAndDelay) {
  config::LinkDirection config = plain();
  config.rate = BitRate::bits_per_second(80'000'000);
  config.delay = ms(100);
  config.queue = ByteCount(500'000);
  const CapacityRule rule{.smallest_frame = 1000, .if_unlimited = 77, .at_least = 10};
  EXPECT_EQ(frames_in_flight(config, rule), 1500U);
  config.delay_steps = {{ms(1), ms(300)}};
  EXPECT_EQ(frames_in_flight(config, rule), 3500U);
  config.rate_steps = {{ms(1), BitRate::bits_per_second(160'000'000)}};
  EXPECT_EQ(frames_in_flight(config, rule), 6500U);
  config.rate_steps.push_back({ms(2), BitRate()});
  EXPECT_EQ(frames_in_flight(config, rule), 77U);
}

}  // namespace
}  // namespace satrelay::link
