#include "relay/link/link_direction.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "tests/unit/relay/link/harness.h"

namespace satrelay::link::link_direction_test {
namespace {

using Fate = LinkDirection::Fate;

BitRate megabits(std::uint64_t n) { return BitRate::bits_per_second(n * 1'000'000); }

config::LinkDirection with_rate(BitRate rate) {
  config::LinkDirection config;
  config.rate = rate;
  config.delay = Duration::milliseconds(275);
  return config;
}

// The bound is five standard deviations. By chance one in two million seeds fails; the seed is
// fixed.
void expect_share(std::uint64_t hits, std::uint64_t of, double share) {
  const double expected = share * static_cast<double>(of);
  const double bound = 5 * std::sqrt(expected * (1 - share)) + 1;
  EXPECT_NEAR(static_cast<double>(hits), expected, bound);
}

TEST(LinkDirection, DelaysASingleFrameBySerialisationAndDelay) {
  Harness h(with_rate(megabits(10)));
  const Instant start = h.now;
  EXPECT_EQ(h.offer(7), Fate::kAccepted);
  h.run_to_the_end();
  ASSERT_EQ(h.arrivals.size(), 1U);
  EXPECT_EQ(h.arrivals[0].frame, 7U);
  EXPECT_FALSE(h.arrivals[0].corrupt_bit);
  // 1538 bytes at 10 Mbit/s.
  EXPECT_EQ(h.arrivals[0].at - start,
            Duration::milliseconds(275) + Duration::nanoseconds(1'230'400));
}

TEST(LinkDirection, CountsTheConfiguredOverheadPerPacket) {
  config::LinkDirection config = with_rate(megabits(8));
  config.delay = Duration::zero();
  for (const std::uint32_t overhead : {0U, 24U, 38U}) {
    LinkDirection link(config, overhead, 1, 16);
    link.enqueue(1, 14 + 1000, Instant());
    EXPECT_EQ(link.next_delivery() - Instant(), Duration::microseconds(1000 + overhead));
  }
}

TEST(LinkDirection, RateIsExactOverAMillionFrames) {
  // At 10 Gbit/s a frame takes 1230.4 ns: an error from rounding each frame shows after 2500
  // frames.
  config::LinkDirection config = with_rate(BitRate::bits_per_second(10'000'000'000));
  config.queue = ByteCount(1ULL << 40);
  LinkDirection link(config, kOverhead, 1, std::size_t{1} << 20);
  constexpr std::uint64_t kFrames = 1'000'000;
  Instant last;
  for (std::uint64_t i = 0; i < kFrames; ++i) {
    ASSERT_EQ(link.enqueue(i, kFullFrame, Instant()), Fate::kAccepted);
  }
  while (!link.next_delivery().is_never()) {
    last = link.next_delivery();
    link.poll(last);
  }
  const auto expected = Duration::nanoseconds(12'304 * (kFrames / 10)) + config.delay;
  EXPECT_NEAR(static_cast<double>((last - Instant()).to_nanoseconds()),
              static_cast<double>(expected.to_nanoseconds()), 1.0);
}

TEST(LinkDirection, IdleTimeLendsNoCredit) {
  Harness h(with_rate(megabits(10)));
  h.run_until(h.now + Duration::seconds(10));
  const Instant start = h.now;
  h.offer(0);
  h.offer(1);
  h.run_to_the_end();
  ASSERT_EQ(h.arrivals.size(), 2U);
  EXPECT_EQ(h.arrivals[1].at - start,
            Duration::milliseconds(275) + Duration::nanoseconds(2 * 1'230'400));
}

TEST(LinkDirection, UnlimitedRateOnlyDelays) {
  Harness h(with_rate(BitRate()));
  const Instant start = h.now;
  for (std::uint64_t i = 0; i < 1000; ++i) ASSERT_EQ(h.offer(i), Fate::kAccepted);
  h.run_to_the_end();
  ASSERT_EQ(h.arrivals.size(), 1000U);
  EXPECT_EQ(h.arrivals.back().at - start, Duration::milliseconds(275));
}

TEST(LinkDirection, DropsFromTheTailBeyondTheQueue) {
  config::LinkDirection config = with_rate(megabits(10));
  config.queue = ByteCount(10 * 1538);
  Harness h(config);
  for (std::uint64_t i = 0; i < 25; ++i) {
    EXPECT_EQ(h.offer(i), i < 10 ? Fate::kAccepted : Fate::kDropped) << i;
  }
  EXPECT_EQ(h.link.counters().queue_bytes, 10U * 1538U);
  // One frame has left, so there is room for one.
  h.run_until(h.now + Duration::nanoseconds(1'230'400));
  EXPECT_EQ(h.offer(100), Fate::kAccepted);
  EXPECT_EQ(h.offer(101), Fate::kDropped);
  h.run_to_the_end();
  EXPECT_EQ(h.arrivals.size(), 11U);
  EXPECT_EQ(h.link.counters().dropped_queue, 16U);
  EXPECT_EQ(h.link.counters().queue_bytes, 0U);
}

TEST(LinkDirection, DefaultQueueHolds100Milliseconds) {
  Harness h(with_rate(megabits(50)));
  std::uint64_t accepted = 0;
  while (h.offer(accepted) == Fate::kAccepted) ++accepted;
  EXPECT_EQ(accepted, 625'000U / 1538U);
}

TEST(LinkDirection, AnIdleLinkTakesAFrameLargerThanItsQueue) {
  config::LinkDirection config = with_rate(megabits(10));
  config.queue = ByteCount(2000);
  Harness h(config);
  EXPECT_EQ(h.offer(0, 9014), Fate::kAccepted);
  EXPECT_EQ(h.offer(1, 60), Fate::kDropped);
}

TEST(LinkDirection, CountsAndBoundsFramesInFlight) {
  Harness h(with_rate(BitRate()), 1, 8);
  for (std::uint64_t i = 0; i < 10; ++i) {
    EXPECT_EQ(h.offer(i), i < 8 ? Fate::kAccepted : Fate::kDropped);
  }
  EXPECT_EQ(h.link.frames_in_flight(), 8U);
  EXPECT_EQ(h.link.counters().dropped_memory, 2U);
  h.run_to_the_end();
  EXPECT_EQ(h.arrivals.size(), 8U);
  EXPECT_EQ(h.link.frames_in_flight(), 0U);
  EXPECT_EQ(h.offer(11), Fate::kAccepted);
}

TEST(LinkDirection, LosesTheConfiguredShareButSendsAllTheSame) {
  config::LinkDirection config = with_rate(megabits(10));
  config.loss = 0.05;
  config.queue = ByteCount(1ULL << 30);
  Harness h(config, 42);
  constexpr std::uint64_t kFrames = 50'000;
  const Instant start = h.now;
  for (std::uint64_t i = 0; i < kFrames; ++i) h.offer(i);
  h.run_to_the_end();
  const DirectionCounters c = h.link.counters();
  expect_share(c.dropped_loss, kFrames, 0.05);
  EXPECT_EQ(c.frames_in, kFrames);
  EXPECT_EQ(c.frames_out + c.dropped_loss, kFrames);
  EXPECT_EQ(c.bytes_out, c.frames_out * kFullFrame);
  // The lost frames have taken their time on the link.
  const FrameHandle last = h.arrivals.back().frame;
  EXPECT_EQ(h.arrivals.back().at - start,
            config.delay + Duration::nanoseconds(1'230'400) * static_cast<std::int64_t>(last + 1));
}

TEST(LinkDirection, GilbertElliottHasTheBurstsAndTheAverageOfItsChain) {
  config::LinkDirection config = with_rate(BitRate());
  config.gilbert_elliott = config::GilbertElliott{
      .good_to_bad = 0.01, .bad_to_good = 0.2, .loss_good = 0, .loss_bad = 1};
  LinkDirection link(config, kOverhead, 9, 10);
  constexpr std::uint64_t kFrames = 1'000'000;
  std::uint64_t lost = 0;
  std::uint64_t bursts = 0;
  bool in_burst = false;
  Instant now;
  for (std::uint64_t i = 0; i < kFrames; ++i) {
    now += Duration::seconds(1);
    while (link.poll(now)) {
    }
    const bool is_lost = link.enqueue(i, kFullFrame, now) == Fate::kDropped;
    lost += is_lost ? 1 : 0;
    bursts += is_lost && !in_burst ? 1 : 0;
    in_burst = is_lost;
  }
  // The stationary share of the bad state is 0.01 / (0.01 + 0.2). A mean stay there is 1 / 0.2
  // frames.
  EXPECT_NEAR(static_cast<double>(lost) / kFrames, 0.01 / 0.21, 0.001);
  EXPECT_NEAR(static_cast<double>(lost) / static_cast<double>(bursts), 5.0, 0.15);
}

TEST(LinkDirection, SetLossReplacesTheBurstModel) {
  config::LinkDirection config = with_rate(BitRate());
  config.gilbert_elliott = config::GilbertElliott{1, 0, 1, 1};
  Harness h(config);
  EXPECT_EQ(h.offer(0), Fate::kDropped);
  h.link.set_loss(0);
  for (std::uint64_t i = 0; i < 100; ++i) EXPECT_EQ(h.offer(i), Fate::kAccepted);
  h.link.set_loss(1);
  for (std::uint64_t i = 0; i < 100; ++i) EXPECT_EQ(h.offer(i), Fate::kDropped);
}

TEST(LinkDirection, JitterKeepsTheOrderAndItsBound) {
  config::LinkDirection config = with_rate(BitRate());
  config.jitter = Duration::milliseconds(20);
  Harness h(config, 3);
  const Instant start = h.now;
  const Duration interval = Duration::milliseconds(7);
  h.offer_stream(5000, interval);
  ASSERT_EQ(h.arrivals.size(), 5000U);
  Duration least = Duration::infinite();
  Duration most = Duration::zero();
  for (std::uint64_t i = 0; i < 5000; ++i) {
    ASSERT_EQ(h.arrivals[i].frame, i);
    ASSERT_GE(h.arrivals[i].at, h.arrivals[i - (i > 0 ? 1 : 0)].at);
    const Duration delay = h.arrivals[i].at - (start + interval * static_cast<std::int64_t>(i));
    least = std::min(least, delay);
    most = std::max(most, delay);
  }
  EXPECT_GE(least, Duration::milliseconds(275));
  EXPECT_LT(least, Duration::milliseconds(276));
  EXPECT_LE(most, Duration::milliseconds(295));
  EXPECT_GT(most, Duration::milliseconds(294));
}

TEST(LinkDirection, ReordersTheConfiguredShareByTheConfiguredTime) {
  config::LinkDirection config = with_rate(BitRate());
  config.reorder = 0.02;
  config.reorder_by = Duration::milliseconds(5);
  Harness h(config, 5);
  const Instant start = h.now;
  constexpr std::uint64_t kFrames = 20'000;
  h.offer_stream(kFrames, Duration::milliseconds(1));
  ASSERT_EQ(h.arrivals.size(), kFrames);
  std::uint64_t late = 0;
  Instant previous;
  for (const Arrival& arrival : h.arrivals) {
    ASSERT_GE(arrival.at, previous);
    previous = arrival.at;
    const Duration delay =
        arrival.at - (start + Duration::milliseconds(static_cast<std::int64_t>(arrival.frame)));
    if (delay == Duration::milliseconds(280)) {
      ++late;
    } else {
      ASSERT_EQ(delay, Duration::milliseconds(275));
    }
  }
  EXPECT_EQ(late, h.link.counters().reordered);
  expect_share(late, kFrames, 0.02);
}

TEST(LinkDirection, DuplicatesComeOutTwice) {
  config::LinkDirection config = with_rate(BitRate());
  config.duplicate = 0.1;
  Harness h(config, 6);
  std::set<FrameHandle> duplicated;
  for (std::uint64_t i = 0; i < 10'000; ++i) {
    if (h.offer(i) == Fate::kDuplicated) duplicated.insert(i);
  }
  h.run_to_the_end();
  std::map<FrameHandle, int> seen;
  for (const Arrival& arrival : h.arrivals) ++seen[arrival.frame];
  EXPECT_EQ(seen.size(), 10'000U);
  for (const auto& [frame, times] : seen) ASSERT_EQ(times, duplicated.contains(frame) ? 2 : 1);
  EXPECT_EQ(h.link.counters().duplicated, duplicated.size());
  EXPECT_EQ(h.link.counters().frames_out, 10'000U + duplicated.size());
  expect_share(duplicated.size(), 10'000, 0.1);
}

TEST(LinkDirection, CorruptionNamesOneBitWithinTheFrame) {
  config::LinkDirection config = with_rate(BitRate());
  config.corrupt = 0.1;
  config.duplicate = 0.5;
  Harness h(config, 8);
  for (std::uint64_t i = 0; i < 10'000; ++i) h.offer(i, 64);
  h.run_to_the_end();
  std::uint64_t corrupted = 0;
  std::set<std::uint64_t> bits;
  std::map<FrameHandle, int> corrupted_copies;
  for (const Arrival& arrival : h.arrivals) {
    if (!arrival.corrupt_bit) continue;
    ++corrupted;
    ASSERT_EQ(++corrupted_copies[arrival.frame], 1) << "both copies of a frame are corrupt";
    ASSERT_LT(*arrival.corrupt_bit, 64U * 8U);
    bits.insert(*arrival.corrupt_bit);
  }
  EXPECT_EQ(corrupted, h.link.counters().corrupted);
  expect_share(corrupted, 10'000, 0.1);
  EXPECT_GT(bits.size(), 400U);  // of 512: the bits are spread over the frame
}

TEST(LinkDirection, RateChangesHoldForFramesOfferedAfterwards) {
  Harness h(with_rate(megabits(10)));
  const Instant start = h.now;
  h.offer(0);
  h.link.set_rate(megabits(1));
  h.offer(1);
  h.link.set_rate(BitRate());
  h.offer(2);
  h.run_to_the_end();
  ASSERT_EQ(h.arrivals.size(), 3U);
  const Instant first = start + Duration::nanoseconds(1'230'400) + Duration::milliseconds(275);
  EXPECT_EQ(h.arrivals[0].at, first);
  EXPECT_EQ(h.arrivals[1].at, first + Duration::nanoseconds(12'304'000));
  EXPECT_EQ(h.arrivals[2].at, h.arrivals[1].at);  // not before the frames that wait
}

TEST(LinkDirection, AnOutageLosesWhatIsOfferedAndLetsArriveWhatIsOnItsWay) {
  Harness h(with_rate(megabits(10)));
  EXPECT_EQ(h.offer(0), Fate::kAccepted);
  h.link.set_outage(true);
  EXPECT_EQ(h.offer(1), Fate::kDropped);
  EXPECT_EQ(h.offer(2), Fate::kDropped);
  h.run_to_the_end();
  EXPECT_EQ(h.arrivals.size(), 1U);
  h.link.set_outage(false);
  EXPECT_EQ(h.offer(3), Fate::kAccepted);
  h.run_to_the_end();
  EXPECT_EQ(h.arrivals.size(), 2U);
  EXPECT_EQ(h.link.counters().dropped_outage, 2U);
  EXPECT_EQ(h.link.counters().dropped_loss, 0U);
}

config::LinkDirection with_every_fault() {
  config::LinkDirection config = with_rate(megabits(20));
  config.loss = 0.05;
  config.jitter = Duration::milliseconds(3);
  config.reorder = 0.05;
  config.duplicate = 0.05;
  config.corrupt = 0.05;
  return config;
}

std::vector<std::uint64_t> trace(std::uint64_t seed) {
  Harness h(with_every_fault(), seed);
  h.offer_stream(2000, Duration::microseconds(700));
  std::vector<std::uint64_t> words;
  for (const Arrival& arrival : h.arrivals) {
    words.push_back(arrival.frame);
    words.push_back(static_cast<std::uint64_t>(arrival.at.to_nanoseconds()));
    words.push_back(arrival.corrupt_bit.value_or(~0ULL));
  }
  return words;
}

TEST(LinkDirection, TheSameSeedGivesTheSameRun) {
  EXPECT_EQ(trace(11), trace(11));
  EXPECT_NE(trace(11), trace(12));
}

TEST(LinkDirection, ChangingOneFaultLeavesTheOthersAsTheyWere) {
  config::LinkDirection config = with_rate(BitRate());
  config.loss = 0.1;
  const auto lost = [&] {
    std::set<std::uint64_t> result;
    LinkDirection link(config, kOverhead, 77, 100'000);
    for (std::uint64_t i = 0; i < 5000; ++i) {
      if (link.enqueue(i, kFullFrame, Instant()) == Fate::kDropped) result.insert(i);
    }
    return result;
  };
  const auto alone = lost();
  config.jitter = Duration::milliseconds(5);
  config.duplicate = 0.3;
  config.corrupt = 0.3;
  config.reorder = 0.3;
  EXPECT_EQ(lost(), alone);
}

TEST(LinkDirection, EveryFrameIsAccountedForUnderEveryFault) {
  config::LinkDirection config = with_every_fault();
  config.queue = ByteCount(20'000);
  Harness h(config, 5, 200);
  Random random(99);
  for (std::uint64_t i = 0; i < 50'000; ++i) {
    if (i % 5000 == 0) h.link.set_outage(i % 10'000 == 0);
    if (i % 7000 == 0) h.link.set_rate(megabits(1 + random.below(100)));
    h.offer(i, 60 + random.below(1455));
    h.run_until(h.now + Duration::microseconds(static_cast<std::int64_t>(random.below(900))));
  }
  h.run_to_the_end();
  const DirectionCounters c = h.link.counters();
  EXPECT_GT(c.dropped_queue, 0U);
  EXPECT_GT(c.dropped_outage, 0U);
  EXPECT_GT(c.dropped_memory, 0U);
  EXPECT_EQ(c.frames_in + c.duplicated,
            c.frames_out + c.dropped_queue + c.dropped_loss + c.dropped_outage + c.dropped_memory);
  EXPECT_EQ(c.frames_out, h.arrivals.size());
  EXPECT_EQ(h.link.frames_in_flight(), 0U);
  EXPECT_FALSE(h.link.poll(Instant::never()));
}

}  // namespace
}  // namespace satrelay::link::link_direction_test
