// A host or a router of the LAN moves to another MAC during a transfer towards it. It sends nothing
// that a flow could follow, but ARP or Neighbour Discovery show the move.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "relay/gateway/recovery/flow_journal.h"
#include "tests/unit/relay/gateway/devices/mac_moves_fixture.h"

namespace satrelay::gateway::mac_moves_test {
namespace {

using Flags = wire::TcpFlags;

class MacMovesTest : public MacMoves, public testing::WithParamInterface<LanPlace> {
 protected:
  void SetUp() override {
    MacMoves::SetUp();
    vlan_ = GetParam().vlan;
  }
};

INSTANTIATE_TEST_SUITE_P(Lans, MacMovesTest,
                         testing::Values(LanPlace{kClient, kServer}, LanPlace{kClient, kServer, 7},
                                         LanPlace{kClientV6, kServerV6},
                                         LanPlace{kClientV6, kServerV6, 7}));

TEST_P(MacMovesTest, AFlowFollowsAHostWhoseOldMacIsSilent) {
  claim(GetParam().client, kHostMac);
  open(GetParam());
  serve("hello");
  wait(Duration::milliseconds(50));
  ASSERT_EQ(segments_to(kHostMac), 1U);
  claim(GetParam().client, kNewMac);
  wait(Duration::milliseconds(900));
  ASSERT_EQ(questions(), 2U);
  const auto question = std::ranges::find(sent_, true, &SentToLan::is_question);
  EXPECT_EQ(question->ethernet.destination, kHostMac) << "nobody else is asked";
  EXPECT_EQ(question->ethernet.source, kGatewayMac);
  EXPECT_EQ(question->ethernet.tag_count, vlan_ != 0 ? 1 : 0);
  EXPECT_EQ(segments_to(kNewMac), 0U);
  wait_for(1, kNewMac);
  EXPECT_EQ(last_segment().ethernet.destination, kNewMac);
  EXPECT_EQ(last_segment().ethernet.source, kServerMac);
  EXPECT_EQ(last_segment().ethernet.tag_count, vlan_ != 0 ? 1 : 0);
  EXPECT_EQ(count(Counter::kLanMoves), 1U);
  acknowledge(kNewMac, 5);
  sent_.clear();
  serve("more");
  wait(Duration::milliseconds(50));
  EXPECT_EQ(segments_to(kNewMac), 1U);
  EXPECT_EQ(segments_to(kHostMac), 0U);
}

TEST_P(MacMovesTest, TheFirstRepeatAfterAMoveGoesToTheNewMac) {
  claim(GetParam().client, kHostMac);
  open(GetParam());
  serve("hello");
  wait(Duration::milliseconds(50));
  claim(GetParam().client, kNewMac);
  wait(Duration::milliseconds(1'100));
  ASSERT_EQ(count(Counter::kLanMoves), 1U);
  sent_.clear();
  for (int i = 0; i < 500 && sent_.empty(); ++i) wait(Duration::milliseconds(10));
  EXPECT_EQ(segments_to(kNewMac), 1U);
  EXPECT_EQ(segments_to(kHostMac), 0U);
}

// No repeat has to be lost first.
TEST_P(MacMovesTest, AFlowWithNothingUnderWayFollowsAtOnce) {
  claim(GetParam().client, kHostMac);
  open(GetParam());
  claim(GetParam().client, kNewMac);
  wait(Duration::milliseconds(1'100));
  sent_.clear();
  serve("hello");
  wait(Duration::milliseconds(50));
  EXPECT_EQ(segments_to(kNewMac), 1U);
  EXPECT_EQ(segments_to(kHostMac), 0U);
}

TEST_P(MacMovesTest, TheFirstThatIsHeardOfAHostNamesAnotherMac) {
  open(GetParam());
  serve("hello");
  wait(Duration::milliseconds(50));
  claim(GetParam().client, kNewMac);
  wait(Duration::milliseconds(1'500));
  EXPECT_EQ(questions(), 0U) << "it is not known who owned the address";
  EXPECT_GE(segments_to(kNewMac), 1U);
}

TEST_P(MacMovesTest, WithTwoOwnersThatAnswerTheOneThatAcknowledgesStays) {
  claim(GetParam().client, kHostMac);
  open(GetParam());
  serve("hello");
  claim(GetParam().client, kNewMac);
  wait(Duration::milliseconds(20));
  ASSERT_EQ(questions(), 1U);
  claim(GetParam().client, kHostMac, Override::kSet, kGatewayMac);
  EXPECT_EQ(verdict_, Verdict::kConsumed) << "the gateway has asked";
  EXPECT_EQ(count(Counter::kLanMovesDisputed), 1U);
  wait(Duration::seconds(4));
  EXPECT_EQ(count(Counter::kLanMoves), 0U);
  std::vector<MacAddress> repeats;
  for (const SentToLan& sent : sent_) {
    if (!sent.is_question) repeats.push_back(sent.ethernet.destination);
  }
  ASSERT_GE(repeats.size(), 4U);
  const auto first = std::ranges::find(repeats, kNewMac);
  ASSERT_NE(first, repeats.end());
  for (auto at = first; at + 1 < repeats.end(); ++at) EXPECT_NE(*at, *(at + 1));
  wait_for(segments_to(kNewMac) + 1, kNewMac);
  acknowledge(kNewMac, 5);
  end_backoff(kNewMac);
  serve("more");
  wait_for(3, kNewMac);
  EXPECT_EQ(segments_to(kHostMac), 0U);
}

TEST_P(MacMovesTest, AForgedClaimCostsOneRepeat) {
  claim(GetParam().client, kHostMac);
  open(GetParam());
  std::size_t forged = 0;
  for (int i = 0; i < 5; ++i) {
    claim(GetParam().client, kForgedMac);
    wait(Duration::milliseconds(20));
    claim(GetParam().client, kHostMac, Override::kSet, kGatewayMac);
    serve("hello");
    wait_for(1, kForgedMac);
    wait_for(segments_to(kHostMac) + 1, kHostMac);
    forged += segments_to(kForgedMac);
    acknowledge(kHostMac, 5);
    end_backoff(kHostMac);
    // Without a new claim, the old one costs nothing.
    serve("hello");
    wait_for(3, kHostMac);
    EXPECT_EQ(segments_to(kForgedMac), 0U);
    acknowledge(kHostMac, 5);
    end_backoff(kHostMac);
    wait(Duration::seconds(1));
  }
  EXPECT_EQ(forged, 5U);
}

// The owner answers no such question, or has just missed it.
TEST_P(MacMovesTest, AForgedClaimAgainstASilentOwnerCostsOneRepeat) {
  claim(GetParam().client, kHostMac);
  open(GetParam());
  claim(GetParam().client, kForgedMac);
  wait(Duration::milliseconds(1'100));
  ASSERT_EQ(count(Counter::kLanMoves), 1U);
  sent_.clear();
  serve("hello");
  wait_for(1, kHostMac);
  EXPECT_LE(segments_to(kForgedMac), 2U) << "the segment, and a probe of its tail";
  acknowledge(kHostMac, 5);
  end_backoff(kHostMac);
  serve("hello");
  wait_for(3, kHostMac);
  EXPECT_EQ(segments_to(kForgedMac), 0U);
}

TEST_P(MacMovesTest, WhatIsBehindARouterFollowsIt) {
  const std::string router = ip_of(GetParam().client).is_v4() ? "203.0.113.1" : "2001:db8:a::1";
  claim(router, kHostMac);
  open(GetParam());
  serve("hello");
  wait(Duration::milliseconds(50));
  claim(router, kNewMac);
  wait_for(1, kNewMac);
  acknowledge(kNewMac, 5);
  sent_.clear();
  serve("more");
  wait(Duration::milliseconds(50));
  EXPECT_EQ(segments_to(kNewMac), 1U);
  EXPECT_EQ(segments_to(kHostMac), 0U);
}

// The answer was on its way when the host began to send through the other router.
TEST_P(MacMovesTest, ALateAnswerByADeadRouterHoldsNoFlowThere) {
  open(GetParam());
  const std::uint32_t first = acknowledgment_;
  for (int i = 0; i < 2; ++i) {
    serve("hello");
    wait(Duration::milliseconds(20));
  }
  ASSERT_EQ(lan(frame_of(segment(0), "data", ethernet(kNewMac))), Verdict::kConsumed);
  wait(Duration::milliseconds(50));
  ASSERT_EQ(last_segment().ethernet.destination, kNewMac);
  const auto answer = [&](const MacAddress& from, std::uint32_t bytes) {
    acknowledgment_ = first + bytes;
    ASSERT_EQ(lan(frame_of(segment(4), {}, ethernet(from))), Verdict::kConsumed);
    take();
  };
  answer(kHostMac, 5);
  answer(kNewMac, 10);
  serve("more");
  wait_for(segments_to(kNewMac) + 1, kNewMac);
}

TEST_P(MacMovesTest, AFlowFollowsToARouterThatItHasUsedBefore) {
  open(GetParam());
  const auto take_all = [&](const MacAddress& mac) {
    serve("hello");
    wait(Duration::milliseconds(20));
    acknowledge(mac, 5);
  };
  take_all(kNewMac);
  take_all(kHostMac);
  serve("hello");
  wait_for(1, kNewMac);
  acknowledge(kHostMac, 5);
  take_all(kHostMac);
  take_all(kHostMac);
  sent_.clear();
  // The first router goes down.
  ASSERT_EQ(lan(frame_of(segment(0), "data", ethernet(kNewMac))), Verdict::kConsumed);
  serve("hello");
  wait_for(1, kNewMac);
  EXPECT_EQ(segments_to(kHostMac), 0U);
}

// No host has such a MAC, so a frame from it does not show where to send.
TEST_P(MacMovesTest, AFlowFollowsNoMacThatIsNoHosts) {
  claim(GetParam().client, kHostMac);
  open(GetParam());
  std::uint32_t offset = 0;
  for (const MacAddress& mac : {MacAddress(), MacAddress::broadcast(), kGatewayMac}) {
    lan(frame_of(segment(offset), "data", ethernet(mac)));
    offset += 4;
    lan(frame_of(segment(offset), "data", ethernet(kHostMac)));
    offset += 4;
    wait(Duration::seconds(4));
  }
  EXPECT_GE(segments_to(kHostMac), 3U);
  EXPECT_EQ(segments_to(kHostMac), sent_.size());
  serve("hello");
  wait(Duration::milliseconds(50));
  EXPECT_EQ(last_segment().ethernet.destination, kHostMac);
  EXPECT_FALSE(last_segment().tcp->has(Flags::kRst));
}

// No host has that address. So its owner cannot answer in place of the router, which is still
// there.
TEST_P(MacMovesTest, AForgedClaimOnAnInventedAddressLeadsNoFlowsAway) {
  const std::string invented = ip_of(GetParam().client).is_v4() ? "203.0.113.99" : "2001:db8:a::99";
  open(GetParam());
  claim(invented, kHostMac);
  claim(invented, kForgedMac);
  wait(Duration::milliseconds(1'500));
  ASSERT_EQ(count(Counter::kLanMoves), 1U);
  sent_.clear();
  serve("hello");
  wait(Duration::milliseconds(150));
  EXPECT_EQ(segments_to(kHostMac), 1U);
  EXPECT_EQ(segments_to(kForgedMac), 0U);
  acknowledge(kHostMac, 5);
  // A lost segment costs one more repeat.
  sent_.clear();
  serve("hello");
  wait_for(1, kForgedMac);
  wait_for(segments_to(kHostMac) + 1, kHostMac);
  EXPECT_EQ(segments_to(kForgedMac), 1U);
}

// Each claim is a new one.
TEST_P(MacMovesTest, AlternatingClaimsLeaveEachSecondRepeatToTheHost) {
  claim(GetParam().client, kHostMac);
  open(GetParam());
  serve("hello");
  bool other = false;
  for (int i = 0; i < 400; ++i) {
    claim(GetParam().client, other ? kForgedMac : kNewMac);
    claim(GetParam().client, kHostMac, Override::kSet, kGatewayMac);
    other = !other;
    wait(Duration::milliseconds(50));
  }
  EXPECT_EQ(count(Counter::kLanMoves), 0U);
  ASSERT_GE(segments_to(kHostMac), 3U);
  EXPECT_LE(segments_to(kForgedMac) + segments_to(kNewMac), segments_to(kHostMac));
  acknowledge(kHostMac, 5);
  EXPECT_EQ(count(Counter::kFlowsResetTimeout), 0U);
}

// The owner does not answer questions.
TEST_P(MacMovesTest, AlternatingClaimsAgainstASilentOwnerLeaveEachSecondRepeatToTheHost) {
  claim(GetParam().client, kHostMac);
  open(GetParam());
  serve("hello");
  bool other = false;
  for (int i = 0; i < 400; ++i) {
    claim(GetParam().client, other ? kForgedMac : kNewMac);
    other = !other;
    wait(Duration::milliseconds(50));
  }
  ASSERT_GE(segments_to(kHostMac), 3U);
  EXPECT_LE(segments_to(kForgedMac) + segments_to(kNewMac), segments_to(kHostMac) + 1);
}

// After a restart, the gateway asks the host at the MAC in the journal.
TEST_P(MacMovesTest, TheJournalHasTheMacThatTheHostHasConfirmed) {
  alignas(8) std::array<std::byte, 8 * FlowJournal::kRecordSize> journal{};
  a_ = std::make_unique<Gateway>(
      config_a_, Identity{.boot_epoch = 3, .secret = {1, 2}, .wan_mac = kGatewayMac}, memory_a_,
      now_, journal);
  for (int i = 0; i < 40; ++i) step();
  claim(GetParam().client, kHostMac);
  open(GetParam());
  const auto before = journal;
  claim(GetParam().client, kNewMac);
  serve("hello");
  wait_for(1, kNewMac);
  EXPECT_EQ(journal, before);
  acknowledge(kNewMac, 5);
  EXPECT_NE(journal, before);
}

TEST_P(MacMovesTest, ANeighbourThatSharesTheMacStays) {
  const std::string router = ip_of(GetParam().client).is_v4() ? "203.0.113.1" : "2001:db8:a::1";
  claim(router, kHostMac);
  claim(GetParam().client, kHostMac);
  open(GetParam());
  serve("hello");
  wait(Duration::milliseconds(50));
  claim(router, kNewMac);
  wait(Duration::seconds(4));
  EXPECT_EQ(count(Counter::kLanMoves), 1U);
  EXPECT_EQ(segments_to(kNewMac), 0U);
}

TEST_P(MacMovesTest, AnotherVlanIsAnotherHost) {
  claim(GetParam().client, kHostMac);
  open(GetParam());
  const std::uint16_t own = vlan_;
  vlan_ = 9;
  claim(GetParam().client, kHostMac);
  claim(GetParam().client, kNewMac);
  vlan_ = own;
  wait(Duration::milliseconds(1'100));
  ASSERT_EQ(count(Counter::kLanMoves), 1U);
  serve("hello");
  wait(Duration::seconds(2));
  EXPECT_EQ(segments_to(kNewMac), 0U);
}

TEST_F(MacMoves, AnAdvertisementWithoutOverrideReplacesNothing) {
  claim(kClientV6, kHostMac);
  open({kClientV6, kServerV6});
  serve("hello");
  claim(kClientV6, kNewMac, Override::kClear);
  wait(Duration::seconds(3));
  EXPECT_EQ(questions(), 0U);
  EXPECT_EQ(segments_to(kNewMac), 0U);
}

// One flow has seen frames of its host, and another flow only sends to it.
TEST_F(MacMoves, AFrameOfTheHostNamesItsMacForOthers) {
  claim(kClient, kHostMac);
  open({kClient, kServer});
  connect(40'001);
  serve("hello");
  wait(Duration::milliseconds(50));
  ASSERT_EQ(last_segment().ethernet.destination, kHostMac);
  sent_.clear();
  wire::TcpHeader other = syn(40'002);
  ASSERT_EQ(lan(frame_of(other, {}, ethernet(kHostMac))), Verdict::kConsumed);
  const auto answer = hear();
  ASSERT_TRUE(answer);
  other.flags = Flags::kAck;
  ++other.sequence;
  other.options = {};
  other.acknowledgment = answer->sequence + 1;
  ASSERT_EQ(lan(frame_of(other, {}, ethernet(kHostMac))), Verdict::kConsumed);
  ASSERT_EQ(lan(frame_of(other, "more", ethernet(kNewMac))), Verdict::kConsumed);
  wait(Duration::seconds(4));
  EXPECT_EQ(questions(), 2U);
  EXPECT_EQ(count(Counter::kLanMoves), 1U);
  EXPECT_TRUE(std::ranges::any_of(sent_, [](const SentToLan& sent) {
    return sent.tcp && sent.tcp->destination_port == 40'001 && sent.ethernet.destination == kNewMac;
  }));
}

TEST_F(MacMoves, AFloodOfClaimsDrawsFewQuestions) {
  constexpr int kHosts = 250;
  const auto flood = [&](const MacAddress& mac) {
    for (int i = 0; i < kHosts; ++i) claim("203.0.113." + std::to_string(i), mac);
  };
  flood(kHostMac);
  flood(kNewMac);
  for (int i = 0; i < 4; ++i) {
    flood(kForgedMac);
    flood(kNewMac);
  }
  wait(Duration::milliseconds(900));
  EXPECT_EQ(questions(), 128U) << "64 hosts, each twice";
  EXPECT_GE(count(Counter::kLanMovesUnasked), 150U);
  wait(Duration::seconds(1));
  EXPECT_EQ(questions(), 128U);
  EXPECT_EQ(count(Counter::kLanMoves), 64U);
}

TEST_F(MacMoves, OwnersThatAnswerAtOnceDrawNoMoreQuestions) {
  constexpr int kHosts = 250;
  constexpr int kAtOnce = 25;
  const auto host = [](int i) { return "203.0.113." + std::to_string(i); };
  for (int i = 0; i < kHosts; ++i) claim(host(i), kHostMac);
  for (int i = 0; i < kHosts; i += kAtOnce) {
    for (int j = i; j < i + kAtOnce; ++j) claim(host(j), kForgedMac);
    wait(Duration::milliseconds(10));
    for (int j = i; j < i + kAtOnce; ++j) claim(host(j), kHostMac);
  }
  EXPECT_GE(questions(), 64U);
  EXPECT_LE(questions(), 80U) << "64 at once, and 64 a second for a tenth of one";
  EXPECT_GE(count(Counter::kLanMovesUnasked), 150U);
}

TEST_F(MacMoves, OneHostIsAskedOnceASecond) {
  claim(kClient, kHostMac);
  for (int i = 0; i < 30; ++i) {
    claim(kClient, kForgedMac);
    wait(Duration::milliseconds(50));
    claim(kClient, kNewMac);
    claim(kClient, kHostMac);
    wait(Duration::milliseconds(50));
  }
  EXPECT_LE(questions(), 4U);
  EXPECT_GE(questions(), 2U);
}

}  // namespace
}  // namespace satrelay::gateway::mac_moves_test
