#include "pep/control/cubic.h"

#include <gtest/gtest.h>

#include "pep/control/new_reno.h"

namespace satrelay::control::cubic_test {
namespace {

constexpr std::uint32_t kSegment = 1000;
constexpr Duration kRtt = Duration::milliseconds(100);

AckSample acked(const WindowController& controller, std::uint64_t bytes, Instant now = Instant()) {
  AckSample sample;
  sample.newly_acknowledged = bytes;
  sample.bytes_in_flight = controller.window();
  sample.rtt = kRtt;
  sample.smoothed_rtt = kRtt;
  sample.now = now;
  return sample;
}

// Acknowledges a window each round trip, one segment at a time.
Instant run(WindowController& controller, Instant from, Duration duration, Duration rtt = kRtt) {
  Instant now = from;
  const Instant end = from + duration;
  while (now < end) {
    const std::uint64_t segments = controller.window() / kSegment;
    const Duration step = rtt / static_cast<std::int64_t>(segments);
    for (std::uint64_t i = 0; i < segments && now < end; ++i) {
      now += step;
      AckSample sample = acked(controller, kSegment, now);
      sample.smoothed_rtt = rtt;
      controller.on_ack(sample);
    }
  }
  return now;
}

TEST(Cubic, StartsAsRfc6928Says) {
  EXPECT_EQ(Cubic(1000).window(), 10'000u);
  EXPECT_EQ(Cubic(1460).window(), 14'600u);
  EXPECT_EQ(Cubic(8960).window(), 17'920u);
}

TEST(Cubic, SlowStartDoublesEachRoundTrip) {
  Cubic cubic(kSegment);
  for (int i = 0; i < 10; ++i) cubic.on_ack(acked(cubic, kSegment));
  EXPECT_EQ(cubic.window(), 20'000u);
}

// RFC 9438 section 4.2: W(t) = 0.4 (t - K)^3 + W_max, K = cbrt(0.3 W_max / 0.4).
TEST(Cubic, FollowsTheCubicBackToTheOldWindowAndBeyond) {
  Cubic cubic(kSegment);
  while (cubic.window() < 1'000'000) cubic.on_ack(acked(cubic, kSegment));
  Instant now = Instant::from_nanoseconds(1'000'000'000);
  cubic.on_loss({1'000'000, now});
  EXPECT_EQ(cubic.window(), 700'000u);
  cubic.on_recovery_exit(now);
  // K = cbrt(300 / 0.4) = 9.086 s. At K - 5 s: 1000 - 0.4 * 125 = 950 segments.
  now = run(cubic, now, Duration::milliseconds(4086));
  EXPECT_NEAR(static_cast<double>(cubic.window()), 950'000, 5000);
  now = run(cubic, now, Duration::seconds(5));
  EXPECT_NEAR(static_cast<double>(cubic.window()), 1'000'000, 1000);
  now = run(cubic, now, Duration::seconds(5));
  EXPECT_NEAR(static_cast<double>(cubic.window()), 1'050'000, 8000);
}

TEST(Cubic, GrowsByHalfTheWindowInARoundTripAtMost) {
  Cubic cubic(kSegment);
  Instant now = Instant::from_nanoseconds(1);
  cubic.on_loss({20'000, now});
  cubic.on_ack(acked(cubic, kSegment, now));
  // Far beyond K, where the cubic rises by hundreds of segments in a round trip.
  for (int i = 0; i < 100; ++i) {
    const std::uint64_t before = cubic.window();
    now += Duration::seconds(1);
    cubic.on_ack(acked(cubic, before, now));
    ASSERT_LE(cubic.window(), before + before / 2 + 1);
  }
}

// Section 4.3: where the round trip is short, the cubic alone would be slower than Reno.
TEST(Cubic, IsNotSlowerThanRenoOnShortPaths) {
  Cubic cubic(kSegment);
  Instant now = Instant::from_nanoseconds(1);
  while (cubic.window() < 60'000) cubic.on_ack(acked(cubic, kSegment, now));
  cubic.on_loss({60'000, now});
  cubic.on_recovery_exit(now);
  ASSERT_EQ(cubic.window(), 42'000u);
  // 200 round trips of 1 ms, in which the cubic alone moves by less than a segment. Alpha is 9/17
  // up to the old window and 1 beyond it. So 18 segments take 34 round trips, and then each round
  // trip adds one.
  now = run(cubic, now, Duration::milliseconds(200), Duration::milliseconds(1));
  EXPECT_NEAR(static_cast<double>(cubic.window()), 42'000 + 18'000 + 166'000, 8000);
}

TEST(Cubic, LosesThreeTenthsAndConvergesFast) {
  Cubic cubic(kSegment);
  while (cubic.window() < 100'000) cubic.on_ack(acked(cubic, kSegment));
  Instant now = Instant::from_nanoseconds(1);
  cubic.on_loss({100'000, now});
  EXPECT_EQ(cubic.window(), 70'000u);
  EXPECT_EQ(cubic.slow_start_threshold(), 70'000u);
  cubic.on_recovery_exit(now);
  // The loss comes below the old maximum. So the new plateau is 0.85 of the window (section 4.7):
  // 59.5 segments, and K = cbrt((59.5 - 49) / 0.4) = 2.97 s.
  cubic.on_loss({70'000, now});
  EXPECT_EQ(cubic.window(), 49'000u);
  cubic.on_recovery_exit(now);
  now = run(cubic, now, Duration::milliseconds(2970), Duration::milliseconds(200));
  EXPECT_NEAR(static_cast<double>(cubic.window()), 59'500, 1000);
}

// RFC 9438 section 5.1, table 1: the average window where one of 1 / p packets is lost and a round
// trip takes 0.1 s. The first two rows equal Reno's windows, as section 4.3 decides there.
TEST(Cubic, HasTheAverageWindowsThatTheRfcPublishes) {
  struct Row {
    std::uint64_t packets_a_loss;
    double window;  // segments
  };
  for (const Row& row :
       {Row{100, 12}, Row{1'000, 38}, Row{10'000, 187}, Row{100'000, 1054}, Row{1'000'000, 5926}}) {
    Cubic cubic(kSegment);
    const auto twice = static_cast<std::uint64_t>(2 * row.window) * kSegment;
    while (cubic.window() < twice) cubic.on_ack(acked(cubic, kSegment));
    Instant now;
    // The average over time: each window counts for as long as it lasts.
    double seconds = 0, windows = 0;
    constexpr int kLosses = 24, kSettled = 12;
    for (int loss = 0; loss < kLosses; ++loss) {
      cubic.on_loss({cubic.window(), now});
      cubic.on_recovery_exit(now);
      for (std::uint64_t i = 0; i < row.packets_a_loss; ++i) {
        const double window = static_cast<double>(cubic.window()) / kSegment;
        const Duration step = Duration::nanoseconds(
            static_cast<std::int64_t>(static_cast<double>(kRtt.to_nanoseconds()) / window));
        now += step;
        cubic.on_ack(acked(cubic, kSegment, now));
        if (loss < kSettled) continue;
        seconds += step.to_seconds();
        windows += window * step.to_seconds();
      }
    }
    EXPECT_NEAR(windows / seconds, row.window, row.window * 0.1) << row.packets_a_loss;
  }
}

TEST(Cubic, AfterATimeoutSlowStartThenAPlateauAtTheThreshold) {
  Cubic cubic(kSegment);
  while (cubic.window() < 100'000) cubic.on_ack(acked(cubic, kSegment));
  Instant now = Instant::from_nanoseconds(1);
  cubic.on_timeout({100'000, now});
  EXPECT_EQ(cubic.window(), 1000u);
  EXPECT_EQ(cubic.slow_start_threshold(), 70'000u);
  cubic.on_ack(acked(cubic, 40'000, now));
  EXPECT_EQ(cubic.window(), 3000u);  // RFC 3465 section 2.3
  while (cubic.window() < 70'000) cubic.on_ack(acked(cubic, kSegment, now));
  // K = 0 (section 4.8): 1 s later 0.4 segments above; Reno's share is 9/17 segments a round trip.
  now = run(cubic, now, Duration::seconds(1));
  EXPECT_NEAR(static_cast<double>(cubic.window()), 75'300, 1000);
}

TEST(Cubic, NeverBelowTwoSegmentsOnLoss) {
  Cubic cubic(kSegment);
  cubic.on_loss({1000, Instant()});
  EXPECT_EQ(cubic.window(), 2000u);
}

TEST(Cubic, TimeInWhichTheWindowIsNotUsedDoesNotCount) {  // section 5.8
  Cubic cubic(kSegment);
  while (cubic.window() < 100'000) cubic.on_ack(acked(cubic, kSegment));
  Instant now = Instant::from_nanoseconds(1);
  cubic.on_loss({100'000, now});
  cubic.on_recovery_exit(now);
  now = run(cubic, now, Duration::seconds(1));
  const std::uint64_t before = cubic.window();
  for (int i = 0; i < 100; ++i) {
    now += Duration::seconds(1);
    AckSample sample = acked(cubic, kSegment, now);
    sample.bytes_in_flight = before / 4;
    cubic.on_ack(sample);
  }
  EXPECT_EQ(cubic.window(), before);
  // The window grows as if the 100 s had not passed.
  now = run(cubic, now, kRtt);
  EXPECT_LT(cubic.window(), before + before / 8);
}

TEST(Cubic, DoesNotGrowInRecovery) {
  Cubic cubic(kSegment);
  AckSample sample = acked(cubic, 5000);
  sample.in_recovery = true;
  cubic.on_ack(sample);
  EXPECT_EQ(cubic.window(), 10'000u);
}

TEST(Cubic, IdleRestartKeepsASmallerWindow) {
  Cubic cubic(kSegment);
  for (int i = 0; i < 10; ++i) cubic.on_ack(acked(cubic, kSegment));
  cubic.on_idle_restart();
  EXPECT_EQ(cubic.window(), 10'000u);
  cubic.on_loss({6000, Instant()});
  cubic.on_idle_restart();
  EXPECT_EQ(cubic.window(), 4200u);
}

TEST(Cubic, GrowthIsBounded) {
  Cubic cubic(65'000);
  Instant now;
  for (int i = 0; i < 1000; ++i) {
    now += Duration::seconds(1);
    cubic.on_ack(acked(cubic, 1U << 30, now));
  }
  EXPECT_LE(cubic.window(), std::uint64_t{1} << 32);
}

TEST(WindowController, IsMadeByName) {
  const auto cubic = make_window_controller(Congestion::kCubic, kSegment);
  const auto reno = make_window_controller(Congestion::kNewReno, kSegment);
  cubic->on_loss({100'000, Instant()});
  reno->on_loss({100'000, Instant()});
  EXPECT_EQ(cubic->window(), 70'000u);
  EXPECT_EQ(reno->window(), 50'000u);
}

TEST(WindowController, SmallerSegmentsKeepTheWindowInBytes) {
  for (const Congestion congestion : {Congestion::kCubic, Congestion::kNewReno}) {
    const auto controller = make_window_controller(congestion, kSegment);
    for (int i = 0; i < 10; ++i) controller->on_ack(acked(*controller, kSegment));
    controller->set_segment_size(500);
    EXPECT_EQ(controller->window(), 20'000u);
    controller->on_idle_restart();
    EXPECT_EQ(controller->window(), 5000u);
  }
}

}  // namespace
}  // namespace satrelay::control::cubic_test
