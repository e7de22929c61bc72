// Which samples a late machine makes unusable, and which cuts of the rate are taken back.
#include "pep/control/machine_excuse.h"

#include <gtest/gtest.h>

namespace satrelay::control::test::machine_excuse_test {
namespace {

constexpr Instant at(std::int64_t ms) { return Instant::from_nanoseconds(ms * 1'000'000); }

constexpr Duration ms(std::int64_t n) { return Duration::milliseconds(n); }

FeedbackSample late(std::int64_t now_ms, std::int64_t late_ms) {
  FeedbackSample sample;
  sample.now = at(now_ms);
  sample.lateness = ms(late_ms);
  return sample;
}

TEST(PunctualSamplesTest, LatenessIsBelievedUnlessAllAreLate) {
  PunctualSamples samples;
  EXPECT_EQ(samples.believed_lateness(late(0, 0)), ms(0));
  EXPECT_EQ(samples.believed_lateness(late(10, 4)), ms(4));
  EXPECT_EQ(samples.believed_lateness(late(20, 5)), ms(5));
  EXPECT_EQ(samples.believed_lateness(late(5'000, 50)), ms(50));
  EXPECT_EQ(samples.believed_lateness(late(5'020, 50)), ms(0));
  EXPECT_EQ(samples.believed_lateness(late(9'000, 50)), ms(0));
  EXPECT_EQ(samples.believed_lateness(late(9'020, 2)), ms(2));
  EXPECT_EQ(samples.believed_lateness(late(9'040, 50)), ms(50));
}

FeedbackSample sample(std::int64_t arrived_ms, std::uint64_t delivered, std::uint64_t lost) {
  FeedbackSample sample;
  sample.arrived = at(arrived_ms);
  sample.packets_delivered = delivered;
  sample.packets_lost = sample.packets_lost_at_receiver = lost;
  return sample;
}

TEST(CutExcuseTest, LossesOfThePortTakeACutBackOnce) {
  CutExcuse excuse;
  EXPECT_FALSE(excuse.holds(sample(0, 100, 9))) << "there was no cut";
  excuse.on_cut(at(100), at(400));
  EXPECT_FALSE(excuse.holds(sample(110, 100, 0)));
  EXPECT_FALSE(excuse.holds(sample(120, 640, 10))) << "too few to make delay";
  EXPECT_TRUE(excuse.holds(sample(130, 640, 11)));
  EXPECT_FALSE(excuse.holds(sample(140, 640, 11)));
  excuse.on_cut(at(2'000), at(2'300));
  EXPECT_FALSE(excuse.holds(sample(3'001, 10, 9))) << "too late";
  EXPECT_FALSE(excuse.holds(sample(3'000, 10, 9)));
}

TEST(CutExcuseTest, WhoAlwaysHasOneIsBelievedFourTimes) {
  CutExcuse excuse;
  for (int i = 0; i < 6; ++i) {
    excuse.on_cut(at(i * 2'000), at(i * 2'000 + 300));
    EXPECT_EQ(excuse.holds(sample(i * 2'000 + 100, 1, 1)), i < 4) << i;
  }
  excuse.on_cut(at(21'000), at(21'300));
  EXPECT_TRUE(excuse.holds(sample(21'100, 1, 1))) << "after a rest of 10 s";
}

}  // namespace
}  // namespace satrelay::control::test::machine_excuse_test
