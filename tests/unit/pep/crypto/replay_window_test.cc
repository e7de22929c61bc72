#include "pep/crypto/replay_window.h"

#include <gtest/gtest.h>

#include <set>

#include "pep/base/random.h"
#include "tests/unit/pep/compress/allocations.h"

namespace satrelay::crypto {
namespace {

using Verdict = ReplayWindow::Verdict;

TEST(ReplayWindow, AcceptsEachNumberOnce) {
  ReplayWindow window(128);
  EXPECT_EQ(window.accept(0), Verdict::kNew);
  EXPECT_EQ(window.accept(0), Verdict::kSeen);
  EXPECT_EQ(window.accept(5), Verdict::kNew);
  EXPECT_EQ(window.accept(3), Verdict::kNew);
  EXPECT_EQ(window.accept(3), Verdict::kSeen);
  EXPECT_EQ(window.accept(4), Verdict::kNew);
  EXPECT_EQ(window.check(5), Verdict::kSeen);
  EXPECT_EQ(window.check(6), Verdict::kNew);
}

// A forged packet must not move the window.
TEST(ReplayWindow, ACheckChangesNothing) {
  ReplayWindow window(64);
  EXPECT_EQ(window.accept(10), Verdict::kNew);
  EXPECT_EQ(window.check(1'000'000), Verdict::kNew);
  EXPECT_EQ(window.check(1'000'000), Verdict::kNew);
  EXPECT_EQ(window.check(11), Verdict::kNew);
  EXPECT_EQ(window.accept(9), Verdict::kNew);
}

TEST(ReplayWindow, ReachesAsFarAsItWasToldAndNoFurther) {
  for (std::size_t size = 1; size <= 200; ++size) {
    for (const std::uint64_t highest : {1000U, 1023U, 1024U, 1025U}) {
      ReplayWindow window(size);
      ASSERT_EQ(window.accept(highest), Verdict::kNew);
      for (std::uint64_t number = highest - size + 1; number < highest; ++number) {
        ASSERT_EQ(window.accept(number), Verdict::kNew) << size << " " << highest << " " << number;
      }
      ASSERT_EQ(window.accept(highest - size), Verdict::kTooOld) << size << " " << highest;
      ASSERT_EQ(window.accept(0), Verdict::kTooOld);
      for (std::uint64_t number = highest - size + 1; number <= highest; ++number) {
        ASSERT_EQ(window.accept(number), Verdict::kSeen) << size << " " << highest << " " << number;
      }
    }
  }
}

// What was seen long ago in the same place of the ring says nothing about the number there now.
TEST(ReplayWindow, AJumpForgetsWhatItPasses) {
  constexpr std::uint64_t kFar = std::uint64_t{1} << 40;
  ReplayWindow window(256);
  for (std::uint64_t number = 0; number < 2048; ++number) window.accept(number);
  EXPECT_EQ(window.accept(kFar + 255), Verdict::kNew);
  for (std::uint64_t number = kFar; number < kFar + 255; ++number) {
    ASSERT_EQ(window.accept(number), Verdict::kNew) << number - kFar;
  }
  EXPECT_EQ(window.accept(2047), Verdict::kTooOld);
}

TEST(ReplayWindow, GoesUpToTheLastNumbers) {
  constexpr std::uint64_t kLast = ~std::uint64_t{0} - 1;
  ReplayWindow window(100);
  EXPECT_EQ(window.accept(kLast - 99), Verdict::kNew);
  EXPECT_EQ(window.accept(kLast), Verdict::kNew);
  EXPECT_EQ(window.accept(kLast), Verdict::kSeen);
  EXPECT_EQ(window.accept(kLast - 99), Verdict::kSeen);
  EXPECT_EQ(window.accept(kLast - 100), Verdict::kTooOld);
}

TEST(ReplayWindow, StartsAnewForANewKey) {
  ReplayWindow window(100);
  window.accept(1000);
  window.reset();
  EXPECT_EQ(window.accept(0), Verdict::kNew);
  EXPECT_EQ(window.accept(1000), Verdict::kNew);
  EXPECT_EQ(window.accept(1000), Verdict::kSeen);
}

// Packets in any order, with copies and jumps, beside a set that remembers all.
TEST(ReplayWindow, AgreesWithASet) {
  for (const std::size_t size : {1, 63, 64, 65, 100, 1000, 4096}) {
    Random random(size);
    ReplayWindow window(size);
    std::set<std::uint64_t> seen;
    std::uint64_t highest = random.below(3) * 1000;
    std::size_t counts[3] = {};
    for (int i = 0; i < 30'000; ++i) {
      if (random.chance(0.001)) highest += random.below(20 * size + 64);
      const std::uint64_t reach = 2 * size + 3;
      const std::uint64_t back = random.below(reach);
      const std::uint64_t number = highest + 2 > back ? highest + 2 - back : 0;
      Verdict expected = Verdict::kNew;
      if (!seen.empty() && number + size <= *seen.rbegin()) {
        expected = Verdict::kTooOld;
      } else if (seen.count(number) != 0) {
        expected = Verdict::kSeen;
      }
      ASSERT_EQ(window.check(number), expected) << size << " " << i << " " << number;
      ++counts[static_cast<std::size_t>(expected)];
      if (random.chance(0.2)) continue;  // not authentic
      ASSERT_EQ(window.accept(number), expected);
      seen.insert(number);
      highest = std::max(highest, number);
    }
    for (const std::size_t count : counts) EXPECT_GT(count, 50U) << size;
  }
}

TEST(ReplayWindow, TakesNoMemoryForAPacket) {
  if (!compress::counts_allocations()) GTEST_SKIP() << "a sanitizer owns malloc";
  ReplayWindow window(1024);
  Random random(1);
  const std::uint64_t before = compress::allocation_count();
  std::uint64_t number = 0;
  for (int i = 0; i < 100'000; ++i) window.accept(number += random.below(5000));
  EXPECT_EQ(compress::allocation_count() - before, 0U);
}

}  // namespace
}  // namespace satrelay::crypto
