// The limit of challenge ACKs in a second.
#include "pep/tcp/challenge_limit.h"

#include <gtest/gtest.h>

#include "tests/unit/pep/tcp/script.h"

namespace satrelay::tcp::test::challenge_limit_test {
namespace {

TEST(ChallengeLimit, TenASecond) {
  ChallengeLimit limit;
  Instant now;
  int allowed = 0;
  for (int i = 0; i < 3000; ++i, now += ms(1)) allowed += limit.allow(now) ? 1 : 0;
  EXPECT_EQ(allowed, 30);
}

}  // namespace
}  // namespace satrelay::tcp::test::challenge_limit_test
