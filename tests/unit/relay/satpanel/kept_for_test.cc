#include "relay/satpanel/kept_for.h"

#include <gtest/gtest.h>

namespace satrelay::panel::kept_for_test {
namespace {

using namespace std::chrono_literals;

TEST(KeptFor, AShortListingIsFetchedEachThreeSeconds) {
  EXPECT_EQ(kept_for(2ms), 3s);
  EXPECT_EQ(kept_for(1s), 3s);
}

TEST(KeptFor, ALongOneIsFetchedAQuarterOfTheTimeAtMost) { EXPECT_EQ(kept_for(4s), 12s); }

}  // namespace
}  // namespace satrelay::panel::kept_for_test
