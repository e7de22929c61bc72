#include "pep/schedule/host_share.h"

#include <gtest/gtest.h>

namespace satrelay::schedule::host_share_test {
namespace {

TEST(HostShares, AHostIsOneWhoeverNamesIt) {
  HostShares shares(4);
  HostShare* const here = shares.join(1, 7);
  HostShare* const there = shares.join(1, 7);
  EXPECT_EQ(here, there);
  EXPECT_NE(shares.join(2, 7), here) << "of another class";
  EXPECT_NE(shares.join(1, 8), here) << "another host";
}

TEST(HostShares, BytesAreBookedAsOftenAsTheHostWaits) {
  HostShares shares(1);
  HostShare* const host = shares.join(0, 7);
  ASSERT_NE(host, nullptr);
  EXPECT_EQ(host->factor(), 1U) << "who waits nowhere is booked once";
  host->places = 3;
  EXPECT_EQ(host->factor(), 3U);
}

TEST(HostShares, APlaceIsFreeWhenTheLastOneHasLeft) {
  HostShares shares(1);
  HostShare* const first = shares.join(0, 7);
  HostShare* const second = shares.join(0, 7);
  EXPECT_EQ(shares.join(0, 8), nullptr);
  shares.leave(first);
  EXPECT_EQ(shares.join(0, 8), nullptr);
  shares.leave(second);
  EXPECT_NE(shares.join(0, 8), nullptr);
  shares.leave(nullptr);
}

}  // namespace
}  // namespace satrelay::schedule::host_share_test
