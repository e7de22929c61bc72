// A link direction that changes while it runs.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "tests/unit/relay/link/harness.h"

namespace satrelay::link::schedule_test {
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

TEST(LinkSteps, ARateStepHoldsForFramesThatWait) {
  config::LinkDirection config = plain();
  config.rate_steps = {{at(5), BitRate::bits_per_second(kFrameBits * 100)},
                       {at(45), frames_per_millisecond(2)}};
  Harness h(config);
  const Instant start = h.now;
  for (FrameHandle i = 0; i < 20; ++i) EXPECT_EQ(h.offer(i), Fate::kAccepted);
  EXPECT_EQ(h.link.queue_delay(h.now), ms(20));
  h.run_until(start + ms(5));
  // Fifteen frames are left. Each now takes ten milliseconds.
  EXPECT_EQ(h.link.queue_delay(h.now), ms(150));
  h.run_to_the_end();
  ASSERT_EQ(h.arrivals.size(), 20U);
  EXPECT_EQ(h.arrivals[4].at - start, ms(25));
  EXPECT_EQ(h.arrivals[5].at - start, ms(35));
  EXPECT_EQ(h.arrivals[8].at - start, ms(65));
  // The last eleven frames take half a millisecond each.
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
  // The link decides on a frame when its last bit leaves, a millisecond after the frame came.
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
  // Frame i leaves the queue at i + 1 ms.
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
  EXPECT_EQ(h.arrivals[9].at - start, ms(29));   // waits for the last frame with the longer delay
  EXPECT_EQ(h.arrivals[30].at - start, ms(36));  // 31 + 5: no earlier frame is left
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
  config.loss = 0.5;  // ignored beside a loss trace
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

}  // namespace
}  // namespace satrelay::link::schedule_test
