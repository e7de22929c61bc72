#include "relay/doctor/core_loads.h"

#include <gtest/gtest.h>

namespace satrelay::ctl::doctor::core_loads_test {
namespace {

TEST(CoreLoads, ComesFromTwoReadings) {
  const CoreTimes before = core_times(
      "cpu  9 9 9 9 9 9 9 9 0 0\n"
      "cpu0 100 0 0 100 0 0 0 0 0 0\n"
      "cpu12 0 0 0 500 0 0 0 0 0 0\n"
      "intr 1234\n");
  ASSERT_EQ(before.size(), 2U);
  EXPECT_EQ(before.at(0).all, 200U);
  const CoreTimes after =
      core_times("cpu0 175 0 0 115 10 0 0 0 0 0\ncpu12 0 0 0 600 0 0 0 0 0 0\n");
  const auto shares = busy_shares(before, after);
  EXPECT_DOUBLE_EQ(shares.at(0), 0.75);
  EXPECT_DOUBLE_EQ(shares.at(12), 0.0);
}

TEST(CoreLoads, LeavesOutCoresWithoutTwoReadings) {
  EXPECT_TRUE(busy_shares({}, core_times("cpu0 1 1 1 1 1 1 1 1\n")).empty());
  const CoreTimes same = core_times("cpu0 1 1 1 1 1 1 1 1\n");
  EXPECT_TRUE(busy_shares(same, same).empty());
}

TEST(CoreLoads, ReadsThisMachine) {
  EXPECT_FALSE(read_core_loads(std::chrono::milliseconds(50)).empty());
}

}  // namespace
}  // namespace satrelay::ctl::doctor::core_loads_test
