// The estimate of the path's loss, and how it fades.
#include "pep/stp/path/loss_rate.h"

#include <gtest/gtest.h>

namespace satrelay::stp::loss_rate_test {
namespace {

TEST(LossRateTest, KnowsNothingBeforeAnythingIsSettled) {
  LossRate rate;
  EXPECT_FALSE(rate.known());
  EXPECT_EQ(rate.ratio(), 0);
}

TEST(LossRateTest, CountsLostAndRepairedOfAllThatWereSettled) {
  LossRate rate;
  rate.on_delivered(80);
  rate.on_lost(10);
  EXPECT_TRUE(rate.known());
  EXPECT_DOUBLE_EQ(rate.ratio(), 10.0 / 90);
  // The path has lost these packets too, though they count as delivered.
  rate.on_repaired(5);
  rate.on_delivered(10);
  EXPECT_DOUBLE_EQ(rate.ratio(), 0.15);
}

TEST(LossRateTest, IsNeverMoreThanAll) {
  LossRate rate;
  rate.on_lost(1);
  rate.on_repaired(7);
  EXPECT_EQ(rate.ratio(), 1);
}

TEST(LossRateTest, ForgetsWhatLiesBeyondItsWindow) {
  LossRate rate;
  rate.on_lost(1000);
  rate.on_delivered(9000);
  EXPECT_DOUBLE_EQ(rate.ratio(), 0.1);
  rate.on_delivered(10'000);
  EXPECT_DOUBLE_EQ(rate.ratio(), 0.05);
  for (int i = 0; i < 20; ++i) rate.on_delivered(10'000);
  EXPECT_LT(rate.ratio(), 1e-6);
  rate.on_lost(100);
  EXPECT_NEAR(rate.ratio(), 100 / (LossRate::kWindow + 100), 1e-6) << "new losses count at once";
}

}  // namespace
}  // namespace satrelay::stp::loss_rate_test
