// Instants and durations that never come.
#include "pep/base/time.h"

#include <gtest/gtest.h>

namespace satrelay::time_test {
namespace {

TEST(Time, NeverAndInfiniteAbsorb) {
  EXPECT_TRUE((Instant::never() + Duration::seconds(1)).is_never());
  EXPECT_TRUE((Instant() + Duration::infinite()).is_never());
  EXPECT_TRUE((Instant::never() - Instant()).is_infinite());
  EXPECT_TRUE((Duration::infinite() * 2).is_infinite());
  EXPECT_LT(Instant::from_nanoseconds(5), Instant::never());
  EXPECT_EQ(earlier(Instant(), Instant::never()), Instant());
}

}  // namespace
}  // namespace satrelay::time_test
