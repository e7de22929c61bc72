#include "pep/schedule/capped_share.h"

#include <gtest/gtest.h>

namespace satrelay::schedule::capped_share_test {
namespace {

constexpr CappedShare::Permille kQuarter = 250;
constexpr std::size_t kBurst = 1'500;

// Packets of the preferred ones among so many, while both wait.
int preferred_of(CappedShare& share, int packets) {
  int preferred = 0;
  for (int i = 0; i < packets; ++i) {
    if (share.preferred()) {
      share.on_preferred(1'000, kQuarter);
      ++preferred;
    } else {
      share.on_other(1'000, kQuarter);
    }
  }
  return preferred;
}

TEST(CappedShare, ThePreferredGetItsShareAndNoMoreWhileBothWait) {
  CappedShare share(kBurst);
  EXPECT_NEAR(preferred_of(share, 1'000), 250, 1);
}

TEST(CappedShare, WhatItLeavesUnusedIsSavedUpToABurst) {
  CappedShare share(kBurst);
  for (int i = 0; i < 1'000; ++i) share.on_other(1'000, kQuarter);
  // 1,500 bytes saved let it have two packets of 1,000, each of which costs three quarters.
  EXPECT_TRUE(share.preferred());
  share.on_preferred(1'000, kQuarter);
  EXPECT_TRUE(share.preferred());
  share.on_preferred(1'000, kQuarter);
  EXPECT_TRUE(share.preferred());
  share.on_preferred(1'000, kQuarter);
  EXPECT_FALSE(share.preferred());
}

}  // namespace
}  // namespace satrelay::schedule::capped_share_test
