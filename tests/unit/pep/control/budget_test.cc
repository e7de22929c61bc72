// Which share of a link packets may take that other machines cause, such as answers to pings.
#include "pep/control/budget.h"

#include <gtest/gtest.h>

namespace satrelay::control::budget_test {
namespace {

using Claim = Budget::Claim;

Instant at_ms(std::int64_t ms) { return Instant() + Duration::milliseconds(ms); }
BitRate kbit(std::uint64_t rate) { return BitRate::bits_per_second(rate * 1'000); }

// The budget earns 1,000 octets a second and lends 250 at once.
struct BudgetTest : testing::Test {
  BudgetTest() { budget.set_rate(kbit(8), at_ms(0)); }
  bool take(std::uint64_t size, Claim claim, Instant now) {
    if (!budget.allows(ByteCount(size), claim, now)) return false;
    budget.debit(ByteCount(size), now);
    return true;
  }
  Budget budget{ByteCount(100)};
};

TEST_F(BudgetTest, AFloodGetsTheRateAndWhatIsLentOnce) {
  std::uint64_t octets = 0;
  for (int ms = 0; ms < 10'000; ++ms) {
    for (int i = 0; i < 10; ++i) octets += take(50, Claim::kOther, at_ms(ms)) ? 50 : 0;
  }
  EXPECT_GE(octets, 10'000U);
  EXPECT_LE(octets, 10'000U + 125U);
}

TEST_F(BudgetTest, AFloodLeavesRoomForTheFirst) {
  for (int ms = 0; ms < 2'000; ++ms) {
    while (take(50, Claim::kOther, at_ms(ms))) continue;
    if (ms % 250 != 249) continue;
    EXPECT_TRUE(take(100, Claim::kFirst, at_ms(ms))) << ms;
  }
}

TEST_F(BudgetTest, TheFirstHaveAllOfItAndNoMore) {
  std::uint64_t octets = 0;
  for (int ms = 0; ms < 10'000; ++ms) {
    for (int i = 0; i < 10; ++i) octets += take(50, Claim::kFirst, at_ms(ms)) ? 50 : 0;
  }
  EXPECT_GE(octets, 10'000U);
  EXPECT_LE(octets, 10'000U + 250U);
}

TEST_F(BudgetTest, ALongPacketLeavesAloneIfItsClaimIsOfTheFirstOrder) {
  EXPECT_FALSE(take(2'000, Claim::kOther, at_ms(0)));
  EXPECT_TRUE(take(2'000, Claim::kFirst, at_ms(0)));
  EXPECT_FALSE(take(1, Claim::kFirst, at_ms(1'000))) << "1,000 octets are owed yet";
  EXPECT_TRUE(take(1, Claim::kFirst, at_ms(1'751)));
}

// At 1 kbit/s, 100 octets take 0.8 s. The budget lends them one packet at a time.
TEST_F(BudgetTest, ALowRateLendsTheLeast) {
  budget.set_rate(kbit(1), at_ms(0));
  EXPECT_TRUE(take(50, Claim::kOther, at_ms(0)));
  EXPECT_FALSE(take(50, Claim::kOther, at_ms(0)));
  EXPECT_TRUE(take(50, Claim::kFirst, at_ms(0)));
  EXPECT_FALSE(take(50, Claim::kOther, at_ms(799)));
  EXPECT_TRUE(take(50, Claim::kOther, at_ms(800)));
}

TEST_F(BudgetTest, WhatIsOwedIsOwedInOctets) {
  EXPECT_TRUE(take(1'000, Claim::kFirst, at_ms(0)));
  budget.set_rate(kbit(80), at_ms(0));
  EXPECT_FALSE(take(2'500, Claim::kFirst, at_ms(99)));
  EXPECT_TRUE(take(2'500, Claim::kFirst, at_ms(100)));
}

TEST(Budgets, HaveOneInCommon) {
  Budget all(ByteCount(100));
  all.set_rate(kbit(8), at_ms(0));
  Budget one(ByteCount(100), &all), other(ByteCount(100), &all);
  one.set_rate(kbit(8), at_ms(0));
  other.set_rate(kbit(8), at_ms(0));
  std::uint64_t octets = 0;
  for (int ms = 0; ms < 10'000; ++ms) {
    for (Budget* budget : {&one, &other}) {
      if (!budget->allows(ByteCount(50), Claim::kOther, at_ms(ms))) continue;
      budget->debit(ByteCount(50), at_ms(ms));
      octets += 50;
    }
  }
  EXPECT_LE(octets, 10'000U + 125U);
}

// A hundred senders wait, and each is asked only when its place has come. They have their turns one
// after another, and together they take no more than the rate.
TEST(BudgetPlaces, AreGivenOutInOrderAndOnceEach) {
  Budget budget(ByteCount(100));
  budget.set_rate(kbit(8), at_ms(0));
  std::array<BudgetPlace, 100> places;
  std::array<int, 100> left{};
  int asked = 0, all = 0;
  for (int ms = 0; ms <= 20'000; ++ms) {
    for (std::size_t i = 0; i < places.size(); ++i) {
      if (places[i].at(&budget) > at_ms(ms)) continue;
      ++asked;
      if (!places[i].has_come(&budget, ByteCount(100), at_ms(ms))) continue;
      places[i].use(&budget, ByteCount(100), at_ms(ms));
      ++left[i];
      ++all;
    }
  }
  EXPECT_NEAR(all, 20 * 1'000 / 100, 4);
  for (const int times : left) EXPECT_GE(times, 2);
  EXPECT_LE(asked, 2 * all + 100);
}

TEST(BudgetPlaces, WithoutABudgetNobodyWaits) {
  BudgetPlace place;
  for (int i = 0; i < 10; ++i) {
    EXPECT_TRUE(place.has_come(nullptr, ByteCount(1'000), at_ms(0)));
    place.use(nullptr, ByteCount(1'000), at_ms(0));
  }
}

}  // namespace
}  // namespace satrelay::control::budget_test
