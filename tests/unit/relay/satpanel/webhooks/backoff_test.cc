#include "relay/satpanel/webhooks/backoff.h"

#include <gtest/gtest.h>

#include <set>

namespace satrelay::panel::backoff_test {
namespace {

using std::chrono::milliseconds;

TEST(Backoff, DoublesUpToItsMostWithJitter) {
  Backoff backoff(1);
  milliseconds whole = Backoff::kFirst;
  for (int i = 0; i < 20; ++i) {
    const milliseconds waited = backoff.wait({});
    EXPECT_GE(waited, whole / 2) << i;
    EXPECT_LE(waited, whole) << i;
    whole = std::min(whole * 2, Backoff::kLongest);
  }
  EXPECT_EQ(whole, Backoff::kLongest);
  backoff.reset();
  EXPECT_LE(backoff.wait({}), Backoff::kFirst);
}

TEST(Backoff, IsNotTheSameForAll) {
  std::set<milliseconds> waits;
  for (std::uint64_t seed = 0; seed < 20; ++seed) waits.insert(Backoff(seed).wait({}));
  EXPECT_GT(waits.size(), 10U);
}

TEST(Backoff, HeedsTheReceiverWithinReason) {
  Backoff backoff(1);
  EXPECT_EQ(backoff.wait(milliseconds(60'000)), milliseconds(60'000));
  EXPECT_EQ(backoff.wait(milliseconds(86'400'000)), Backoff::kMostAskedFor);
  // A receiver cannot shorten our own wait by asking for less.
  for (int i = 0; i < 10; ++i) backoff.wait({});
  EXPECT_GE(backoff.wait(milliseconds(1)), Backoff::kLongest / 2);
}

}  // namespace
}  // namespace satrelay::panel::backoff_test
