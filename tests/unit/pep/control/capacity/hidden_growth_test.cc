// A queue that a machine's lateness hides, and lateness that looks like a queue.
#include "pep/control/capacity/hidden_growth.h"

#include <gtest/gtest.h>

namespace satrelay::control::test::hidden_growth_test {
namespace {

constexpr Duration ms(std::int64_t n) { return Duration::milliseconds(n); }

// A sample every 20 ms, 1,250 bytes a millisecond: 10 Mbit/s.
struct HiddenGrowthTest : testing::Test {
  HiddenGrowth hidden{{ms(20), 1, ms(32)}};
  std::int64_t sent = 0;
  // `delay_ms` comes on top of the delay of the path.
  void add(std::int64_t delay_ms, std::int64_t late_ms, int times = 1) {
    for (int i = 0; i < times; ++i, sent += 20) {
      hidden.add({Instant() + ms(sent), Instant() + ms(sent + 275 + delay_ms),
                  ByteCount(static_cast<std::uint64_t>(sent) * 1'250), ms(late_ms)});
    }
  }
};

TEST_F(HiddenGrowthTest, AMachineThatCatchesUpHadNoQueue) {
  add(0, 0, 10);
  for (int i = 1; i <= 10; ++i) add(i * 8, i * 8);
  ASSERT_TRUE(hidden.low());
  EXPECT_EQ(*hidden.low(), ms(275));
  EXPECT_FALSE(hidden.arrival_rate());
  add(3, 0);
  EXPECT_FALSE(hidden.low());
  add(3, 0, 20);
  EXPECT_FALSE(hidden.arrival_rate());
}

// A narrow link on which long packets follow short ones.
TEST_F(HiddenGrowthTest, TheTimeOfPacketsOnTheLinkIsNoQueue) {
  add(0, 0, 10);
  for (int i = 1; i <= 10; ++i) add(i * 8, i * 8);
  ASSERT_TRUE(hidden.low());
  for (int i = 0; i < 20; ++i, sent += 20) {
    hidden.add({Instant() + ms(sent), Instant() + ms(sent + 275 + 80),
                ByteCount(static_cast<std::uint64_t>(sent) * 1'250), ms(0), ms(80)});
  }
  EXPECT_FALSE(hidden.arrival_rate());
}

TEST_F(HiddenGrowthTest, AQueueThatIsStillThereIsOne) {
  add(0, 0, 10);
  for (int i = 1; i <= 10; ++i) add(i * 8, i * 8);
  // The queue has filled meanwhile.
  add(90, 50, 10);
  EXPECT_FALSE(hidden.arrival_rate());
  add(90, 0, 5);
  EXPECT_FALSE(hidden.arrival_rate());
  add(90, 50);
  add(90, 3);
  ASSERT_TRUE(hidden.arrival_rate());
  EXPECT_NEAR(static_cast<double>(hidden.arrival_rate()->to_bits_per_second()), 10e6, 1e3);
  EXPECT_NEAR(static_cast<double>(hidden.sending_rate().to_bits_per_second()), 10e6, 1e3);
}

TEST_F(HiddenGrowthTest, OfAPathThatIsLongerAtOnceNothingIsSuspected) {
  add(0, 0, 10);
  add(80, 80);
  add(80, 0, 50);
  EXPECT_FALSE(hidden.low());
  EXPECT_FALSE(hidden.arrival_rate());
}

TEST_F(HiddenGrowthTest, ASuspicionIsHeldUntilItIsKnown) {
  hidden.suspect(ms(275));
  add(100, 0, 6);
  EXPECT_TRUE(hidden.arrival_rate());
  hidden.suspect(ms(275));
  add(20, 0);
  EXPECT_FALSE(hidden.low());
}

}  // namespace
}  // namespace satrelay::control::test::hidden_growth_test
