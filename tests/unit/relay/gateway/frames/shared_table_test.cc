#include "relay/gateway/frames/shared_table.h"

#include <gtest/gtest.h>

namespace satrelay::gateway::shared_table_test {
namespace {

constexpr std::size_t kPlaces = 64;

// The upper half of a hash finds the set, and the lower half is kept.
constexpr std::uint64_t key(std::uint64_t set, std::uint64_t kept) {
  constexpr std::uint64_t kSets = kPlaces / SharedTable::kPlacesOfASet;
  return set * ((std::uint64_t{1} << 32) / kSets) << 32 | kept;
}

TEST(SharedTable, FindsWhatWasPutThere) {
  SharedTable table(kPlaces);
  EXPECT_EQ(table.find(key(1, 7)), std::nullopt);
  EXPECT_EQ(table.put(key(1, 7), 3), std::nullopt);
  EXPECT_EQ(table.put(key(1, 7), 9), 3U);
  EXPECT_EQ(table.find(key(1, 7)), 9U);
  EXPECT_EQ(table.put(key(1, 7), 5), 9U) << "a smaller value, too";
  EXPECT_EQ(table.find(key(1, 7)), 5U);
  EXPECT_EQ(table.find(key(2, 7)), std::nullopt);
  EXPECT_EQ(table.find(key(1, 8)), std::nullopt);
  EXPECT_EQ(table.find(key(1, 0)), std::nullopt) << "an empty place";
  EXPECT_EQ(table.put(key(1, 0), 1), std::nullopt);
  EXPECT_EQ(table.find(key(1, 0)), 1U);
}

TEST(SharedTable, SaysWhetherItWasEverUsed) {
  SharedTable table(kPlaces);
  EXPECT_TRUE(table.is_unused());
  table.put(key(1, 7), 3);
  EXPECT_FALSE(table.is_unused());
}

TEST(SharedTable, TheSmallestValueOfAFullSetGivesWay) {
  SharedTable table(kPlaces);
  for (std::uint32_t i = 0; i < 4; ++i) table.put(key(3, 100 + i), i == 2 ? 1 : 10 + i);
  EXPECT_EQ(table.put(key(3, 200), 5), std::nullopt);
  EXPECT_EQ(table.find(key(3, 102)), std::nullopt);
  for (const std::uint64_t there : {100, 101, 103, 200}) {
    EXPECT_TRUE(table.find(key(3, there))) << there;
  }
}

}  // namespace
}  // namespace satrelay::gateway::shared_table_test
