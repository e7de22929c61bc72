// How a session shares a link with senders that nobody knows.
#include "pep/control/capacity/finder/sharing_mode.h"

#include <gtest/gtest.h>

namespace satrelay::control::test::sharing_mode_test {
namespace {

constexpr BitRate megabit(std::uint64_t n) { return BitRate::bits_per_second(n * 1'000'000); }
constexpr Instant at(std::int64_t n) { return Instant() + Duration::milliseconds(n); }

FeedbackSample sample(std::int64_t now) {
  FeedbackSample sample;
  sample.now = sample.arrived = at(now);
  sample.sent = at(now - 250);
  return sample;
}

class SharingModeTest : public ::testing::Test {
 protected:
  SharingModeTest() {
    link_.path.restart(Duration::milliseconds(500), at(0));
    link_.capacity = megabit(10);
  }
  // Reports without a queue, each 100 ms.
  FinderMode::Change run(SharingMode& mode, std::int64_t from, std::int64_t to) {
    for (std::int64_t now = from; now < to; now += 100) {
      if (const auto change = mode.on_feedback(sample(now))) return change;
      mode.set_rate();
    }
    return std::nullopt;
  }
  LinkModel link_{megabit(1000)};
};

TEST_F(SharingModeTest, SendsHalfUntilOthersHadTime) {
  SharingMode mode(link_, megabit(2), sample(1000));
  EXPECT_EQ(link_.rate, megabit(10).scaled(97, 200));
  EXPECT_FALSE(run(mode, 1100, 7000));
  EXPECT_EQ(link_.rate, megabit(10).scaled(97, 200));
}

TEST_F(SharingModeTest, TakesMoreWhileThatMakesNoQueueAndThenAll) {
  SharingMode mode(link_, megabit(2), sample(1000));
  const auto change = run(mode, 1100, 60'000);
  ASSERT_TRUE(change);
  EXPECT_EQ(change->kind, FinderMode::Kind::kCruising);
  EXPECT_EQ(change->rate, megabit(10));
  EXPECT_EQ(link_.rate, megabit(10).scaled(97, 100));
}

TEST_F(SharingModeTest, AQueueTakesTheRateBack) {
  SharingMode mode(link_, megabit(2), sample(1000));
  EXPECT_FALSE(run(mode, 1100, 11'000));
  EXPECT_GT(link_.rate, megabit(6));
  EXPECT_FALSE(mode.on_growth(megabit(5), sample(11'000)));
  EXPECT_EQ(link_.rate, megabit(5).scaled(97, 100));
}

TEST_F(SharingModeTest, VeryMuchLossIsAnotherLink) {
  SharingMode mode(link_, megabit(2), sample(1000));
  FeedbackSample lossy = sample(3100);
  lossy.packets_lost = 40;
  lossy.packets_delivered = 60;
  lossy.received = ByteCount(262'500);  // in 2.1 s
  const auto change = mode.on_feedback(lossy);
  ASSERT_TRUE(change);
  EXPECT_EQ(change->kind, FinderMode::Kind::kDraining);
  EXPECT_EQ(change->rate, megabit(1));
}

}  // namespace
}  // namespace satrelay::control::test::sharing_mode_test
