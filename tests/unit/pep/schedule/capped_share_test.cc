#include "pep/schedule/capped_share.h"

#include <gtest/gtest.h>

namespace satrelay::schedule::capped_share_test {
namespace {

constexpr CappedShare::Permille kQuarter = 250;
constexpr std::size_t kBurst = 1'500;

// How many of `packets` packets are of the preferred class, while both classes wait.
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
  // Each packet of 1,000 bytes costs the class 750 bytes of its savings. So the 1,500 saved bytes
  // pay for two packets, and the third is the class's usual turn.
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
