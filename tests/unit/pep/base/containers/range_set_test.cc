#include "pep/base/containers/range_set.h"

#include <gtest/gtest.h>

#include <set>

#include "pep/base/random.h"

namespace satrelay::range_set_test {
namespace {

std::vector<Range> listed(const RangeSet& set) {
  return {set.ranges().begin(), set.ranges().end()};
}

TEST(RangeSet, MergesOverlappingAndAdjacentRanges) {
  RangeSet set;
  EXPECT_EQ(set.insert(10, 20), 10U);
  EXPECT_EQ(set.insert(30, 40), 10U);
  EXPECT_EQ(set.insert(15, 18), 0U);
  EXPECT_EQ(set.insert(20, 25), 5U);  // adjacent to the first range
  EXPECT_EQ(listed(set), (std::vector<Range>{{10, 25}, {30, 40}}));
  EXPECT_EQ(set.insert(0, 100), 75U);
  EXPECT_EQ(listed(set), (std::vector<Range>{{0, 100}}));
  EXPECT_EQ(set.total(), 100U);
}

TEST(RangeSet, TellsWhatItHasOfARange) {
  RangeSet set;
  set.insert(10, 20);
  set.insert(30, 40);
  EXPECT_TRUE(set.touches(0, 10));
  EXPECT_TRUE(set.touches(20, 21));
  EXPECT_TRUE(set.touches(0, 100));
  EXPECT_FALSE(set.touches(21, 29));
  EXPECT_FALSE(set.touches(41, 50));
  EXPECT_EQ(set.overlap(0, 10).total, 0U);
  EXPECT_EQ(set.overlap(20, 30).total, 0U);
  EXPECT_EQ(set.overlap(15, 35).first, (Range{15, 20}));
  EXPECT_EQ(set.overlap(15, 35).total, 10U);
  EXPECT_EQ(set.overlap(25, 100).first, (Range{30, 40}));
}

TEST(RangeSet, SplitsWhenErased) {
  RangeSet set;
  set.insert(0, 100);
  EXPECT_EQ(set.erase(40, 60), 20U);
  EXPECT_EQ(listed(set), (std::vector<Range>{{0, 40}, {60, 100}}));
  EXPECT_EQ(set.erase(30, 70), 20U);
  EXPECT_EQ(set.erase(30, 70), 0U);
  EXPECT_EQ(set.erase_below(10), 10U);
  EXPECT_EQ(listed(set), (std::vector<Range>{{10, 30}, {70, 100}}));
  EXPECT_EQ(set.erase(0, 1000), 50U);
  EXPECT_TRUE(set.empty());
  EXPECT_EQ(set.total(), 0U);
}

TEST(RangeSet, EmptyArgumentsChangeNothing) {
  RangeSet set;
  EXPECT_EQ(set.insert(5, 5), 0U);
  EXPECT_EQ(set.insert(6, 5), 0U);
  EXPECT_TRUE(set.empty());
  set.insert(5, 6);
  EXPECT_EQ(set.erase(5, 5), 0U);
  EXPECT_EQ(set.erase(6, 5), 0U);
  EXPECT_EQ(set.total(), 1U);
}

TEST(RangeSet, HoldsTheLargestIntegers) {
  constexpr std::uint64_t kMax = ~std::uint64_t{0};
  RangeSet set;
  EXPECT_EQ(set.insert(0, kMax), kMax);
  EXPECT_EQ(set.erase(1, kMax - 1), kMax - 2);
  EXPECT_EQ(listed(set), (std::vector<Range>{{0, 1}, {kMax - 1, kMax}}));
  EXPECT_TRUE(set.contains(kMax - 1));
  EXPECT_EQ(set.first_ending_after(1), 1U);
  EXPECT_EQ(set.first_ending_after(kMax - 1), 1U);
  EXPECT_EQ(set.first_ending_after(kMax), 2U);
}

TEST(RangeSet, AgreesWithASetOfIntegers) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    RangeSet set;
    std::set<std::uint64_t> model;
    const std::uint64_t universe = 20 + random.below(600);
    const std::uint64_t longest = 1 + random.below(40);
    for (int step = 0; step < 600; ++step) {
      const std::uint64_t begin = random.below(universe);
      const std::uint64_t end = begin + random.below(longest);
      const std::size_t before = model.size();
      const std::uint64_t dice = random.below(100);
      if (dice < 50) {
        for (std::uint64_t i = begin; i < end; ++i) model.insert(i);
        ASSERT_EQ(set.insert(begin, end), model.size() - before);
      } else if (dice < 90) {
        for (std::uint64_t i = begin; i < end; ++i) model.erase(i);
        ASSERT_EQ(set.erase(begin, end), before - model.size());
      } else if (dice < 98) {
        const std::uint64_t below = begin / 4;
        model.erase(model.begin(), model.lower_bound(below));
        ASSERT_EQ(set.erase_below(below), before - model.size());
      } else {
        model.clear();
        set.clear();
      }
      ASSERT_EQ(set.total(), model.size());
      std::uint64_t counted = 0;
      std::uint64_t last_end = 0;
      for (std::size_t i = 0; i < set.range_count(); ++i) {
        const Range r = set.ranges()[i];
        ASSERT_LT(r.begin, r.end);
        ASSERT_TRUE(i == 0 || r.begin > last_end);  // neither overlapping nor adjacent
        last_end = r.end;
        counted += r.size();
      }
      ASSERT_EQ(counted, model.size());
      for (int probe = 0; probe < 4; ++probe) {
        const std::uint64_t value = random.below(universe + 50);
        ASSERT_EQ(set.contains(value), model.contains(value));
        const std::size_t index = set.first_ending_after(value);
        if (index < set.range_count()) {
          ASSERT_GT(set.ranges()[index].end, value);
        }
        if (index > 0) {
          ASSERT_LE(set.ranges()[index - 1].end, value);
        }
      }
    }
  }
}

// The pattern of a satellite link: new gaps open at the top while retransmissions close the lowest.
TEST(RangeSet, SlidesUpwardsWithoutGrowing) {
  RangeSet set;
  constexpr std::uint64_t kInFlight = 500;
  const Range* lowest_address = nullptr;
  const Range* highest_address = nullptr;
  for (std::uint64_t i = 0; i < 100'000; ++i) {
    set.insert(i * 10, i * 10 + 3);
    if (i >= kInFlight) {
      // First a piece from the middle of the lowest range, then the rest of that range.
      const std::uint64_t low = (i - kInFlight) * 10;
      EXPECT_EQ(set.erase(low + 1, low + 2), 1U);
      EXPECT_EQ(set.erase_below(low + 3), 2U);
    }
    if (i == 10'000) {
      lowest_address = set.ranges().data();
      highest_address = lowest_address;
    } else if (i > 10'000) {
      lowest_address = std::min(lowest_address, set.ranges().data());
      highest_address = std::max(highest_address, set.ranges().data());
    }
  }
  EXPECT_EQ(set.range_count(), kInFlight);
  // The ranges stayed within one piece of memory, a small multiple of their size.
  EXPECT_LT(highest_address - lowest_address, static_cast<std::ptrdiff_t>(8 * kInFlight));
}

}  // namespace
}  // namespace satrelay::range_set_test
