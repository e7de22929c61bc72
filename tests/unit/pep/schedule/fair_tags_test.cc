#include "pep/schedule/fair_tags.h"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>

namespace satrelay::schedule::fair_tags_test {
namespace {

TEST(FairTags, ThoseThatWaitGetTheirWeightsShare) {
  FairTags tags(2);
  std::array<std::uint64_t, 2> served{};
  for (int i = 0; i < 1'000; ++i) {
    const std::size_t next = tags.start(0) <= tags.start(1) ? 0 : 1;
    tags.on_served(next, 1'500, next == 0 ? 1 : 3);
    ++served[next];
  }
  EXPECT_NEAR(static_cast<double>(served[1]), 750, 1);
}

TEST(FairTags, WhoHadNothingToSendIsOwedNothing) {
  FairTags tags(2);
  for (int i = 0; i < 100; ++i) tags.on_served(0, 1'500, 1);
  // The new flow starts where the other one has been served up to, not a hundred packets earlier.
  EXPECT_EQ(tags.start(0) - tags.start(1), 1'500U * 1'024);
}

// A third flow with a tag of its own gets as much service as each of the two.
TEST(FairTags, VirtualTimePassesWithWhoeverIsServed) {
  FairTags tags(2);
  std::uint64_t clock = 0, third = 0;
  std::array<int, 3> served{};
  for (int i = 0; i < 900; ++i) {
    const std::size_t next = tags.start(0) <= tags.start(1) ? 0 : 1;
    const std::uint64_t lead = third > clock ? third - clock : 0;
    if (lead <= tags.lead(next)) {
      tags.pass(lead);
      clock += lead;
      third = clock + 1'500 * FairTags::kUnit;
      ++served[2];
    } else {
      clock += tags.on_served(next, 1'500, 1);
      ++served[next];
    }
  }
  for (const int each : served) EXPECT_NEAR(each, 300, 1);
}

TEST(FairTags, GoOnWhenTheirNumbersAreUsedUp) {
  FairTags tags(2);
  std::array<std::uint64_t, 2> served{};
  for (int i = 0; i < 3'000; ++i) {  // the tags wrap around many times
    const std::size_t next = tags.start(0) <= tags.start(1) ? 0 : 1;
    tags.on_served(next, std::uint64_t{1} << 46, next == 0 ? 1 : 2);
    ++served[next];
  }
  EXPECT_NEAR(static_cast<double>(served[1]), 2'000, 2);
}

}  // namespace
}  // namespace satrelay::schedule::fair_tags_test
