#include "relay/satpanel/kept_for.h"

#include <gtest/gtest.h>

namespace satrelay::panel::kept_for_test {
namespace {

using namespace std::chrono_literals;

TEST(KeptFor, AShortListingIsFetchedEachThreeSeconds) {
  EXPECT_EQ(kept_for(0, 2ms), 3s);
  EXPECT_EQ(kept_for(3'000, 1s), 3s);
}

TEST(KeptFor, NoMoreThanAThousandEntriesASecondAreDescribed) {
  EXPECT_EQ(kept_for(10'000, 600ms), 10s);
  EXPECT_EQ(kept_for(20'000, 1s), 20s);
}

TEST(KeptFor, WhoAnswersSlowlyIsAskedAQuarterOfTheTimeAtMost) { EXPECT_EQ(kept_for(100, 4s), 12s); }

}  // namespace
}  // namespace satrelay::panel::kept_for_test
