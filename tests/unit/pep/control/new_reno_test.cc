#include "pep/control/new_reno.h"

#include <gtest/gtest.h>

namespace satrelay::control::new_reno_test {
namespace {

constexpr std::uint32_t kSegment = 1000;

AckSample acked(const NewReno& reno, std::uint64_t bytes) {
  AckSample sample;
  sample.newly_acknowledged = bytes;
  sample.bytes_in_flight = reno.window();
  return sample;
}

TEST(NewReno, InitialWindowOfRfc6928) {
  EXPECT_EQ(NewReno(1000).window(), 10'000u);
  EXPECT_EQ(NewReno(1460).window(), 14'600u);
  EXPECT_EQ(NewReno(8960).window(), 17'920u);
}

TEST(NewReno, SlowStartDoublesEachRoundTrip) {
  NewReno reno(kSegment);
  for (int i = 0; i < 10; ++i) reno.on_ack(acked(reno, kSegment));
  EXPECT_EQ(reno.window(), 20'000u);
}

TEST(NewReno, AvoidanceAddsASegmentEachRoundTrip) {
  NewReno reno(kSegment);
  reno.on_loss({40'000, Instant()});
  EXPECT_EQ(reno.window(), 20'000u);
  EXPECT_EQ(reno.slow_start_threshold(), 20'000u);
  reno.on_recovery_exit(Instant());
  for (int i = 0; i < 19; ++i) reno.on_ack(acked(reno, kSegment));
  EXPECT_EQ(reno.window(), 20'000u);
  reno.on_ack(acked(reno, kSegment));
  EXPECT_EQ(reno.window(), 21'000u);
}

TEST(NewReno, SlowStartStopsAtTheThreshold) {
  NewReno reno(kSegment);
  reno.on_timeout({16'000, Instant()});
  EXPECT_EQ(reno.window(), 1000u);
  EXPECT_EQ(reno.slow_start_threshold(), 8000u);
  for (int i = 0; i < 7; ++i) reno.on_ack(acked(reno, kSegment));
  EXPECT_EQ(reno.window(), 8000u);
  reno.on_ack(acked(reno, kSegment));
  EXPECT_EQ(reno.window(), 8000u);
}

TEST(NewReno, AfterATimeoutOneAckAddsAtMostTwoSegments) {  // RFC 3465 section 2.3
  NewReno reno(kSegment);
  reno.on_timeout({100'000, Instant()});
  reno.on_ack(acked(reno, 40'000));
  EXPECT_EQ(reno.window(), 3000u);
}

TEST(NewReno, NeverBelowTwoSegmentsOnLoss) {
  NewReno reno(kSegment);
  reno.on_loss({1000, Instant()});
  EXPECT_EQ(reno.window(), 2000u);
}

TEST(NewReno, DoesNotGrowInRecoveryNorWhenTheWindowIsNotUsed) {
  NewReno reno(kSegment);
  AckSample sample = acked(reno, 5000);
  sample.in_recovery = true;
  reno.on_ack(sample);
  EXPECT_EQ(reno.window(), 10'000u);
  sample.in_recovery = false;
  sample.bytes_in_flight = 4000;
  reno.on_ack(sample);
  EXPECT_EQ(reno.window(), 10'000u);
  sample.bytes_in_flight = 5000;
  reno.on_ack(sample);
  EXPECT_EQ(reno.window(), 15'000u);
}

TEST(NewReno, IdleRestartKeepsASmallerWindow) {
  NewReno reno(kSegment);
  for (int i = 0; i < 10; ++i) reno.on_ack(acked(reno, kSegment));
  reno.on_idle_restart();
  EXPECT_EQ(reno.window(), 10'000u);
  reno.on_loss({8000, Instant()});
  reno.on_idle_restart();
  EXPECT_EQ(reno.window(), 4000u);
}

TEST(NewReno, GrowthIsBounded) {
  NewReno reno(65'000);
  for (int i = 0; i < 1000; ++i) reno.on_ack(acked(reno, 1U << 30));
  EXPECT_LE(reno.window(), std::uint64_t{1} << 32);
}

}  // namespace
}  // namespace satrelay::control::new_reno_test
