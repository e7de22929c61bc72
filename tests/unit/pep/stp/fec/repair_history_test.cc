#include "pep/stp/fec/repair_history.h"

#include <gtest/gtest.h>

#include <vector>

namespace satrelay::stp::repair_history_test {
namespace {

using Ranges = std::vector<Range>;
constexpr Instant at(std::int64_t ms) { return Instant::from_nanoseconds(ms * 1'000'000); }

class RepairHistoryTest : public ::testing::Test {
 protected:
  Ranges repairable(Instant then) {
    const auto ranges = history.repairable(then);
    return {ranges.begin(), ranges.end()};
  }
  RepairHistory history;
};

TEST_F(RepairHistoryTest, NothingIsRepairableWithoutRepairs) {
  EXPECT_TRUE(repairable(at(0)).empty());
}

TEST_F(RepairHistoryTest, PacketsAreRepairableUntilTheLastOfTheirRepairsMustHaveArrived) {
  history.on_repair({0, 64}, at(10));
  EXPECT_EQ(repairable(at(9)), (Ranges{{0, 64}}));
  EXPECT_TRUE(repairable(at(10)).empty());
  history.on_repair({0, 64}, at(15));
  EXPECT_EQ(repairable(at(14)), (Ranges{{0, 64}}));
  EXPECT_TRUE(repairable(at(15)).empty());
}

TEST_F(RepairHistoryTest, AWindowThatGoesOnIsOne) {
  for (std::uint64_t end = 10; end <= 3'000; end += 10) {
    history.on_repair({0, end}, at(static_cast<std::int64_t>(end)));
  }
  EXPECT_EQ(repairable(at(0)), (Ranges{{0, 3'000}}));
  history.on_repair({3'000, 3'001}, at(3'001));
  EXPECT_EQ(repairable(at(0)), (Ranges{{0, 3'000}, {3'000, 3'001}}));
  EXPECT_EQ(repairable(at(3'000)), (Ranges{{3'000, 3'001}}));
}

TEST_F(RepairHistoryTest, TheOldestAreForgotten) {
  for (std::uint64_t i = 0; i < 2'000; ++i) {
    history.on_repair({i * 10, i * 10 + 5}, at(static_cast<std::int64_t>(i)));
  }
  const Ranges ranges = repairable(at(0));
  ASSERT_EQ(ranges.size(), 1024U);
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    EXPECT_EQ(ranges[i].begin, (976 + i) * 10) << "ascending";
  }
  EXPECT_EQ(repairable(at(1'990)).size(), 9U);
  history.clear();
  EXPECT_TRUE(repairable(at(0)).empty());
  history.on_repair({9'990, 9'995}, at(3'000));
  EXPECT_EQ(repairable(at(0)), (Ranges{{9'990, 9'995}})) << "as new";
}

}  // namespace
}  // namespace satrelay::stp::repair_history_test
