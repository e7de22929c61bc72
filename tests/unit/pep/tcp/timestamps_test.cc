// The age of an echoed timestamp.
#include "pep/tcp/timestamps.h"

#include <gtest/gtest.h>

#include "tests/unit/pep/tcp/script.h"

namespace satrelay::tcp::test::timestamps_test {
namespace {

TEST(Timestamps, AgeOfAnEcho) {
  const Timestamps clock(0xffff'ff00U);
  const Instant now = Instant::from_nanoseconds(1'000'000'000);
  EXPECT_EQ(clock.age(clock.value(now), now + ms(42)), ms(42));
  EXPECT_EQ(clock.age(clock.value(now), now), ms(1));  // the tick is the granularity
  EXPECT_EQ(clock.age(clock.value(now) + 1, now), Duration::zero());
  EXPECT_EQ(clock.age(0, now), Duration::zero());
}

}  // namespace
}  // namespace satrelay::tcp::test::timestamps_test
