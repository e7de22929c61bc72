// However many flows try again, they do so one after another, and each has its turn.
#include "relay/gateway/flows/hosts/retry_pace.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace satrelay::gateway::retry_pace_test {
namespace {

constexpr Duration kWait = Duration::milliseconds(10);
const Instant kStart = Instant::from_nanoseconds(1'000'000'000);

TEST(RetryPaceTest, AFewTryAgainAfterTheWait) {
  RetryPace pace(kWait);
  Instant at = Instant::never();
  pace.bring_forward(at, 1, kStart);
  EXPECT_EQ(at, kStart + kWait);
  pace.bring_forward(at, 1, kStart + Duration::milliseconds(1));
  EXPECT_EQ(at, kStart + kWait) << "the earlier one holds";
}

TEST(RetryPaceTest, VeryManyTryAgainSoManyASecond) {
  constexpr std::size_t kFlows = 30'000;
  RetryPace pace(kWait);
  std::vector<Instant> due(kFlows, Instant::never());
  std::vector<std::uint64_t> tries(kFlows);
  for (Instant& at : due) pace.bring_forward(at, kFlows, kStart);
  std::uint64_t all = 0;
  const Duration time = Duration::seconds(9);
  for (Instant now = kStart; now < kStart + time; now += Duration::milliseconds(1)) {
    for (std::size_t i = 0; i < kFlows; ++i) {
      if (due[i] > now) continue;
      due[i] = Instant::never();
      pace.bring_forward(due[i], kFlows, now);
      ++tries[i];
      ++all;
    }
  }
  EXPECT_LE(all,
            static_cast<std::uint64_t>(time.to_nanoseconds() / RetryPace::kGap.to_nanoseconds()));
  EXPECT_GE(std::ranges::min(tries), 2U);
  EXPECT_LE(std::ranges::max(tries), 3U);
}

// Each of these flows is gone, but its place is left.
TEST(RetryPaceTest, PlacesOfFlowsThatAreGoneDelayNobodyForLong) {
  RetryPace pace(kWait);
  for (int i = 0; i < 100'000; ++i) {
    Instant at = Instant::never();
    pace.bring_forward(at, 10, kStart);
    ASSERT_LE(at, kStart + kWait + RetryPace::kGap * 10);
  }
}

}  // namespace
}  // namespace satrelay::gateway::retry_pace_test
