#include "relay/ops/stats/latest_value.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

namespace satrelay::ops::latest_value_test {
namespace {

TEST(LatestValue, HasNothingBeforeTheFirstOne) {
  LatestValue<int> latest;
  EXPECT_EQ(latest.take(), nullptr);
}

TEST(LatestValue, IsTakenOnce) {
  LatestValue<int> latest;
  latest.draft() = 1;
  latest.publish();
  latest.draft() = 2;
  latest.publish();
  const int* const taken = latest.take();
  ASSERT_NE(taken, nullptr);
  EXPECT_EQ(*taken, 2);
  EXPECT_EQ(latest.take(), nullptr);
}

TEST(LatestValue, KeepsWhatIsTakenWhileOthersAreMade) {
  LatestValue<int> latest;
  latest.draft() = 1;
  latest.publish();
  const int* const taken = latest.take();
  ASSERT_NE(taken, nullptr);
  for (int i = 2; i < 10; ++i) {
    latest.draft() = i;
    latest.publish();
    EXPECT_EQ(*taken, 1);
  }
  EXPECT_EQ(*latest.take(), 9);
}

// Each value taken is whole, and newer than the one before.
TEST(LatestValue, IsWholeWhileAnotherThreadWrites) {
  constexpr std::uint64_t kLast = 20'000;
  LatestValue<std::vector<std::uint64_t>> latest;
  std::thread writer([&] {
    for (std::uint64_t i = 1; i <= kLast; ++i) {
      latest.draft().assign(64, i);
      latest.publish();
    }
  });
  std::uint64_t before = 0;
  int wrong = 0;
  while (before < kLast) {
    const auto* const taken = latest.take();
    if (taken == nullptr) continue;
    if (taken->front() <= before) ++wrong;
    before = taken->front();
    for (const std::uint64_t each : *taken) wrong += each == before ? 0 : 1;
  }
  writer.join();
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace satrelay::ops::latest_value_test
