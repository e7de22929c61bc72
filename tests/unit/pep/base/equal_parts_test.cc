// Places that several holders share. Half of the places is kept in equal parts for holders below
// their part.
#include "pep/base/equal_parts.h"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "pep/base/random.h"

namespace satrelay::equal_parts_test {
namespace {

using Holder = TypedId<struct HolderKind>;
using Parts = EqualParts<Holder>;

std::uint64_t take_all(Parts& parts, Holder holder) {
  std::uint64_t taken = 0;
  for (; parts.available(holder) > 0; ++taken) parts.take(holder);
  return taken;
}

TEST(EqualParts, AGreedyHolderLeavesTheOthersTheirParts) {
  Parts parts(400, 4);
  EXPECT_EQ(parts.part(), 50U);
  EXPECT_EQ(take_all(parts, Holder(0)), 250U) << "its part, and what is for who comes first";
  for (const std::size_t holder : {1U, 2U, 3U}) {
    EXPECT_EQ(take_all(parts, Holder(holder)), 50U) << holder;
  }
  EXPECT_EQ(parts.free(), 0U);
}

TEST(EqualParts, TheOnlyHolderMayHaveAll) {
  Parts parts(7, 1);
  EXPECT_EQ(take_all(parts, Holder(0)), 7U);
}

TEST(EqualParts, WhatIsGivenBackIsKeptForWhoeverIsBelowItsPart) {
  Parts parts(40, 2);
  EXPECT_EQ(take_all(parts, Holder(0)), 30U);
  EXPECT_EQ(take_all(parts, Holder(1)), 10U);
  parts.give_back(Holder(1));
  EXPECT_EQ(parts.available(Holder(0)), 0U);
  EXPECT_EQ(parts.available(Holder(1)), 1U);
  parts.give_back(Holder(0));
  EXPECT_EQ(parts.available(Holder(0)), 1U);
}

// There are 300 peers, but half of the places serves only 50 of them.
TEST(EqualParts, WhereAPartIsLessThanOnePlaceTheFirstToAskHaveOne) {
  Parts parts(100, 300);
  EXPECT_EQ(take_all(parts, Holder(0)), 50U);
  std::size_t served = 0;
  for (std::size_t holder = 1; holder < 300; ++holder) {
    served += take_all(parts, Holder(holder)) == 1;
  }
  EXPECT_EQ(served, 50U);
}

TEST(EqualParts, FewerPlacesTakeNothingBack) {
  Parts parts(100, 2);
  EXPECT_EQ(take_all(parts, Holder(0)), 75U);
  parts.resize(40);
  EXPECT_EQ(parts.held(Holder(0)), 75U);
  EXPECT_EQ(parts.available(Holder(0)), 0U);
  EXPECT_EQ(parts.available(Holder(1)), 0U) << "there are none";
  for (int i = 0; i < 36; ++i) parts.give_back(Holder(0));
  EXPECT_EQ(parts.available(Holder(0)), 0U);
  EXPECT_EQ(parts.available(Holder(1)), 1U);
}

// A holder below its part finds a place in every sequence of takes and returns.
TEST(EqualParts, AHolderBelowItsPartAlwaysFindsAPlace) {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    Random random(seed);
    const std::size_t holders = 1 + random.below(6);
    Parts parts(2 * holders + random.below(100), holders);
    IdVector<Holder, std::uint64_t> held(holders);
    for (int step = 0; step < 2000; ++step) {
      const Holder holder(random.below(holders));
      if (parts.is_below_part(holder)) {
        ASSERT_GT(parts.available(holder), 0U) << "seed " << seed;
      }
      if (random.chance(0.7) && parts.available(holder) > 0) {
        parts.take(holder);
        ++held[holder];
      } else if (held[holder] > 0) {
        parts.give_back(holder);
        --held[holder];
      }
      const std::uint64_t all = std::accumulate(held.begin(), held.end(), std::uint64_t{0});
      ASSERT_EQ(parts.free(), parts.places() - all);
    }
  }
}

}  // namespace
}  // namespace satrelay::equal_parts_test
