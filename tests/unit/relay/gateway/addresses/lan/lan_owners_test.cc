#include "relay/gateway/addresses/lan/lan_owners.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/unit/relay/gateway/frame_builder.h"

namespace satrelay::gateway::lan_owners_test {
namespace {

using Claim = LanOwners::Claim;
using News = LanOwners::News;

constexpr MacAddress kOld{{2, 0, 0, 0, 1, 1}};
constexpr MacAddress kNew{{2, 0, 0, 0, 1, 2}};
constexpr MacAddress kThird{{2, 0, 0, 0, 1, 3}};

class LanOwnersTest : public testing::Test {
 protected:
  News hear(const MacAddress& mac, Claim claim = Claim::kReplaces) {
    return owners.hear(host, {.mac = mac}, claim, now);
  }
  MacAddress other(const MacAddress& used) { return other(host, used); }
  MacAddress other(const LanAddress& address, const MacAddress& used) {
    const auto found = owners.other(address, used, now);
    return found ? found->mac : MacAddress();
  }

  LanOwners owners{HashKey{1, 2}};
  LanAddress host{ip_of("203.0.113.5"), {7, 0}};
  Instant now = Instant::from_nanoseconds(1);
};

TEST_F(LanOwnersTest, AnOwnerThatIsSilentHasMoved) {
  EXPECT_EQ(hear(kOld), News::kNone);
  EXPECT_EQ(hear(kOld), News::kNone);
  EXPECT_EQ(hear(kNew), News::kAskOwner);
  EXPECT_EQ(owners.owner(host)->mac, kOld);
  EXPECT_EQ(hear(kNew), News::kNone) << "is being asked";
  EXPECT_EQ(other(kOld), MacAddress()) << "not known yet";
  owners.unanswered(host, now);
  EXPECT_EQ(owners.owner(host)->mac, kNew);
  const auto moved = owners.other(host, kOld, now);
  ASSERT_TRUE(moved);
  EXPECT_EQ(moved->mac, kNew);
  EXPECT_TRUE(moved->has_moved);
  EXPECT_EQ(other(kNew), MacAddress());
  EXPECT_FALSE(owners.other(host, kThird, now)->has_moved) << "another MAC was asked";
}

TEST_F(LanOwnersTest, AnOwnerThatAnswersDisputesForAWhile) {
  hear(kOld);
  ASSERT_EQ(hear(kNew), News::kAskOwner);
  EXPECT_EQ(hear(kOld, Claim::kSends), News::kNone) << "may have been sent before the claim";
  EXPECT_EQ(hear(kOld), News::kAnswered);
  EXPECT_EQ(other(kOld), kNew);
  EXPECT_EQ(other(kNew), kOld);
  EXPECT_FALSE(owners.other(host, kNew, now)->has_moved);
  now += LanOwners::kKept;
  EXPECT_EQ(other(kOld), MacAddress());
}

TEST_F(LanOwnersTest, ThatNobodyCouldBeAskedLeavesItOpen) {
  hear(kOld);
  ASSERT_EQ(hear(kNew), News::kAskOwner);
  owners.unasked(host, now);
  EXPECT_EQ(other(kOld), kNew);
  EXPECT_EQ(owners.owner(host)->mac, kOld);
}

TEST_F(LanOwnersTest, AsksOnceASecondAndTellsOfEachClaim) {
  hear(kOld);
  ASSERT_EQ(hear(kNew), News::kAskOwner);
  ASSERT_EQ(hear(kOld), News::kAnswered);
  const std::uint64_t first = owners.other(host, kOld, now)->claim;
  EXPECT_EQ(hear(kNew), News::kNone);
  EXPECT_FALSE(owners.other(host, kOld, now, first)) << "the same again";
  EXPECT_EQ(hear(kThird), News::kNone);
  EXPECT_EQ(other(kOld), kNew);
  const auto next = owners.other(host, kOld, now, first);
  ASSERT_TRUE(next);
  EXPECT_EQ(next->mac, kThird);
  EXPECT_FALSE(owners.other(host, kOld, now, next->claim));
  now += LanOwners::kInterval;
  EXPECT_EQ(hear(kThird), News::kAskOwner);
}

TEST_F(LanOwnersTest, WithoutOverrideNothingIsReplaced) {
  EXPECT_EQ(hear(kOld, Claim::kReplacesNone), News::kNone);
  EXPECT_EQ(owners.owner(host)->mac, kOld) << "there was nothing";
  EXPECT_EQ(hear(kNew, Claim::kReplacesNone), News::kNone);
  EXPECT_EQ(other(kOld), MacAddress());
  ASSERT_EQ(hear(kNew), News::kAskOwner);
  EXPECT_EQ(hear(kOld, Claim::kReplacesNone), News::kAnswered);
}

// Else a router would become the owner of all addresses behind it.
TEST_F(LanOwnersTest, AFrameMakesNoOwnerButDoubtsOne) {
  EXPECT_EQ(hear(kOld, Claim::kSends), News::kNone);
  EXPECT_EQ(owners.owner(host), nullptr);
  hear(kOld);
  EXPECT_EQ(hear(kNew, Claim::kSends), News::kAskOwner);
}

TEST_F(LanOwnersTest, WhatIsBehindARouterGoesWhereItHasGone) {
  const LanAddress behind{ip_of("198.18.0.9"), {7, 0}};
  const LanAddress neighbour{ip_of("203.0.113.6"), {7, 0}};
  const LanAddress elsewhere{ip_of("198.18.0.9"), {8, 0}};
  hear(kOld);
  owners.hear(neighbour, {.mac = kOld}, Claim::kReplaces, now);
  ASSERT_EQ(hear(kNew), News::kAskOwner);
  EXPECT_EQ(other(behind, kOld), MacAddress());
  owners.unanswered(host, now);
  EXPECT_EQ(other(behind, kOld), kNew);
  EXPECT_FALSE(owners.other(behind, kOld, now)->has_moved) << "anybody may claim an address";
  EXPECT_EQ(other(behind, kThird), MacAddress());
  EXPECT_EQ(other(elsewhere, kOld), MacAddress()) << "another VLAN";
  EXPECT_EQ(other(neighbour, kOld), MacAddress()) << "owns the same MAC";
  now += LanOwners::kKept;
  EXPECT_EQ(other(behind, kOld), kNew) << "a connection may be silent for long";
  EXPECT_FALSE(owners.other(host, kOld, now)->has_moved);
  now += LanOwners::kMovesKept;
  EXPECT_EQ(other(behind, kOld), MacAddress()) << "another may have that MAC now";
}

// Each router has failed over to the other.
TEST_F(LanOwnersTest, WhatIsBehindARouterThatCameBackStays) {
  const LanAddress behind{ip_of("198.18.0.9"), {7, 0}};
  hear(kOld);
  ASSERT_EQ(hear(kNew), News::kAskOwner);
  owners.unanswered(host, now);
  now += LanOwners::kKept;
  ASSERT_EQ(hear(kOld), News::kAskOwner);
  owners.unanswered(host, now);
  now += LanOwners::kKept;
  EXPECT_EQ(other(behind, kNew), kOld);
  EXPECT_EQ(other(behind, kOld), MacAddress());
}

// While the owner is asked because of the host's own claim, a forged claim arrives.
TEST_F(LanOwnersTest, TheClaimThatIsAskedAboutStaysWhoeverElseClaims) {
  hear(kOld);
  ASSERT_EQ(hear(kNew), News::kAskOwner);
  EXPECT_EQ(hear(kThird), News::kNone);
  owners.unanswered(host, now);
  EXPECT_EQ(owners.owner(host)->mac, kNew);
  const auto moved = owners.other(host, kOld, now);
  ASSERT_TRUE(moved);
  EXPECT_EQ(moved->mac, kNew);
  EXPECT_TRUE(moved->has_moved);
}

// The forged claim comes first.
TEST_F(LanOwnersTest, TheLatestClaimIsKeptBesideIt) {
  hear(kOld);
  ASSERT_EQ(hear(kThird), News::kAskOwner);
  EXPECT_EQ(hear(kNew), News::kNone);
  owners.unanswered(host, now);
  const auto first = owners.other(host, kOld, now);
  ASSERT_TRUE(first);
  EXPECT_EQ(first->mac, kThird);
  const auto second = owners.other(host, kOld, now, first->claim);
  ASSERT_TRUE(second);
  EXPECT_EQ(second->mac, kNew);
  EXPECT_FALSE(second->has_moved) << "it was not the one that was asked about";
}

TEST_F(LanOwnersTest, PriorityTagsAreNoVlans) {
  EXPECT_EQ((LanAddress{host.host, {0, 7}}), host);
  EXPECT_EQ((LanAddress{host.host, {0, 0}}), (LanAddress{host.host, {}}));
  EXPECT_NE((LanAddress{host.host, {}}), host);
}

TEST_F(LanOwnersTest, NoStationIsGivenAGroupsMac) {
  EXPECT_EQ(hear(MacAddress::broadcast()), News::kNone);
  EXPECT_EQ(hear(MacAddress()), News::kNone);
  EXPECT_EQ(owners.owner(host), nullptr);
}

TEST_F(LanOwnersTest, AFloodEvictsNothingThatWasClaimedLately) {
  hear(kOld);
  ASSERT_EQ(hear(kNew), News::kAskOwner);
  const auto flood = [&] {
    for (int i = 0; i < 40'000; ++i) {  // the table has 4,096 places
      const std::string address = "10.1." + std::to_string(i / 200) + '.' + std::to_string(i % 200);
      owners.hear({ip_of(address), {}}, {.mac = kThird}, Claim::kReplaces, now);
    }
  };
  flood();
  ASSERT_NE(owners.owner(host), nullptr);
  owners.unanswered(host, now);
  EXPECT_EQ(other(kOld), kNew);
  now += LanOwners::kKept;
  flood();
  EXPECT_EQ(owners.owner(host), nullptr);
}

}  // namespace
}  // namespace satrelay::gateway::lan_owners_test
