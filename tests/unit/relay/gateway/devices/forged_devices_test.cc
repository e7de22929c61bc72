// A router with proxy ARP for all addresses, and a forger of answers, look like devices between the
// gateways. They keep no connection of a far host in the clear.

#include <gtest/gtest.h>

#include "relay/gateway/opening/syn_trials.h"
#include "tests/unit/relay/gateway/devices/devices_between_fixture.h"

namespace satrelay::gateway::forged_devices_test {
namespace {

using devices_between_test::BetweenGatewaysTest;
using devices_between_test::kModem;
using Flags = wire::TcpFlags;

// The router on the cable answers so. One SYN is bridged, and taken back when the far host answers
// it.
TEST_F(BetweenGatewaysTest, AProxyArpRouterThatAnswersForAllCostsOneSyn) {
  resolve(kServer);
  ASSERT_EQ(connect(40'000), Verdict::kBridge);
  wait(Duration::milliseconds(305));
  ASSERT_TRUE(take(to_server_, Flags::kSyn));
  answer_from_far_lan(40'000);
  wait(Duration::milliseconds(305));
  EXPECT_EQ(count(Counter::kDroppedTakenBack), 1U);
  EXPECT_FALSE(take(to_host_, Flags::kSyn | Flags::kAck)) << "it would go on in the clear";
  EXPECT_EQ(count(Counter::kHintsVoid), 1U);
  wait(Duration::milliseconds(305));
  const auto reset = take(to_server_, Flags::kRst);
  ASSERT_TRUE(reset) << "the far host must forget the first SYN";
  EXPECT_EQ(reset->tcp.sequence, 1'001U);
  EXPECT_EQ(reset->source, ip_of(kClient));
  // The far host may repeat its answer meanwhile. This answer is dropped, too.
  const auto bytes = from_server(syn_ack(40'000));
  EXPECT_EQ(wan(bytes), Verdict::kDrop);
  // The host repeats its SYN a second after the first one.
  EXPECT_EQ(connect(40'000), Verdict::kConsumed);
  wait(Duration::milliseconds(5));
  const auto local = take(to_host_, Flags::kSyn | Flags::kAck);
  ASSERT_TRUE(local);
  const auto ack = behind(40'000, local->tcp.sequence + 1);
  EXPECT_EQ(say(tcp_frame(kClient, kServer, ack)), Verdict::kConsumed);
  wait(Duration::milliseconds(350));
  EXPECT_TRUE(take(to_server_, Flags::kSyn)) << "gateway B opens it";
  EXPECT_EQ(count(Counter::kFlowsAccepted), 1U);
  // The router answers again, without effect.
  wait(Duration::seconds(15));
  resolve(kServer);
  EXPECT_EQ(connect(40'001), Verdict::kConsumed);
  EXPECT_EQ(count(Counter::kBridgedOnTrial), 1U);
}

TEST_F(BetweenGatewaysTest, ASynThatNobodyAnswersIsRelayedWhenItIsRepeated) {
  resolve(kServer);
  ASSERT_EQ(connect(40'000), Verdict::kBridge);
  wait(Duration::milliseconds(1'000));
  EXPECT_EQ(connect(40'000), Verdict::kConsumed);
  EXPECT_EQ(count(Counter::kHintsVoid), 1U);
  wait(Duration::milliseconds(305));
  EXPECT_TRUE(take(to_server_, Flags::kRst));
  EXPECT_EQ(connect(40'001), Verdict::kConsumed);
}

// A flood of SYNs never repeats one. Only a few of its SYNs are bridged.
TEST_F(BetweenGatewaysTest, AnUnconfirmedHintHasFewSynsBridged) {
  resolve(kServer);
  for (std::uint16_t port = 40'000; port < 40'020; ++port) connect(port);
  EXPECT_EQ(count(Counter::kBridgedOnTrial), SynTrials::kMostSyns);
  EXPECT_EQ(count(Counter::kHintsUntried), 20U - SynTrials::kMostSyns);
  wait(Duration::milliseconds(350));
  connect(41'000);
  EXPECT_EQ(count(Counter::kHintsVoid), 1U);
  EXPECT_EQ(count(Counter::kBridgedOnTrial), SynTrials::kMostSyns);
}

TEST_F(BetweenGatewaysTest, AForgerWhoDoesNotSeeTheSynConfirmsNothing) {
  resolve(kServer);
  ASSERT_EQ(connect(40'000), Verdict::kBridge);
  for (std::uint32_t guess = 900; guess < 1'100; ++guess) {
    if (guess != 1'001) answer_from_wan(40'000, kServer, guess);
  }
  EXPECT_EQ(count(Counter::kAddressesBetween), 0U);
  EXPECT_EQ(explained(kServer), std::nullopt);
}

// A station on the way that sees the SYN can answer it, as over a bridge. The far host answers it,
// too, and that ends the forged connection.
TEST_F(BetweenGatewaysTest, AForgedConnectionIsOverWithTheAnswerOfTheFarHost) {
  resolve(kServer);
  ASSERT_EQ(connect(40'000), Verdict::kBridge);
  wait(Duration::milliseconds(5));
  ASSERT_EQ(answer_from_wan(40'000), Verdict::kBridge);
  ASSERT_EQ(count(Counter::kAddressesBetween), 1U);
  EXPECT_EQ(answer_from_wan(40'000), Verdict::kBridge) << "the same again";
  wait(Duration::milliseconds(300));
  answer_from_far_lan(40'000, 77'000);
  wait(Duration::milliseconds(305));
  EXPECT_EQ(count(Counter::kDroppedTakenBack), 1U);
  EXPECT_EQ(count(Counter::kHintsVoid), 1U);
  EXPECT_EQ(lan(tcp_frame(kClient, kServer, behind(40'000), host_to_server(), "secret")),
            Verdict::kDrop);
  wait(Duration::milliseconds(5));
  EXPECT_TRUE(take(to_host_, Flags::kRst)) << "its client learns that";
  EXPECT_EQ(connect(40'001), Verdict::kConsumed);
}

// If a SYN has waited for the link, a late answer from any station is accepted, but only once.
TEST_F(BetweenGatewaysTest, AForgedConnectionIsOverAlthoughItsSynHasWaited) {
  resolve(kServer);
  ASSERT_EQ(connect(40'000), Verdict::kBridge);
  ASSERT_EQ(answer_from_wan(40'000), Verdict::kBridge);
  ASSERT_EQ(explained(kServer), Counter::kBridgedBetweenGateways);
  for (int i = 0; i < 1'000; ++i) lan(udp_frame(kClient, kModem, 5'000, FrameBytes(1'200)));
  ASSERT_EQ(connect(40'001), Verdict::kQueued);
  ASSERT_EQ(answer_from_wan(40'001), Verdict::kBridge);
  wait(Duration::milliseconds(305));
  answer_from_far_lan(40'001, 77'000);
  wait(Duration::milliseconds(305));
  EXPECT_EQ(count(Counter::kDroppedTakenBack), 1U);
  EXPECT_EQ(explained(kServer), std::nullopt);
  EXPECT_EQ(lan(tcp_frame(kClient, kServer, behind(40'001))), Verdict::kDrop);
}

TEST_F(BetweenGatewaysTest, AForgedRefusalIsShownByTheAnswerOfTheFarHost) {
  resolve(kServer);
  ASSERT_EQ(connect(40'000), Verdict::kBridge);
  ASSERT_EQ(wan(from_server(syn_ack(40'000, 1'001, Flags::kRst | Flags::kAck))), Verdict::kBridge);
  ASSERT_EQ(explained(kServer), Counter::kBridgedBetweenGateways);
  wait(Duration::milliseconds(305));
  answer_from_far_lan(40'000);
  wait(Duration::milliseconds(305));
  EXPECT_EQ(count(Counter::kDroppedTakenBack), 1U);
  EXPECT_EQ(explained(kServer), std::nullopt);
}

// A router with proxy ARP gives a hint for a far host. If the SYN has waited for the link, the
// answer of the far host proves nothing, and cannot be passed on.
TEST_F(BetweenGatewaysTest, AFarHostWhoseSynHasWaitedIsRelayedWhenItIsRepeated) {
  resolve(kServer);
  for (int i = 0; i < 1'000; ++i) lan(udp_frame(kClient, kModem, 5'000, FrameBytes(1'200)));
  // These questions use up the budget by which SYNs on trial go first.
  for (int i = 0; i < 1'000; ++i) ask("192.168.100.9");
  ASSERT_EQ(connect(40'000), Verdict::kQueued);
  wait(Duration::milliseconds(900));
  answer_from_far_lan(40'000);
  wait(Duration::milliseconds(305));
  ASSERT_EQ(count(Counter::kDroppedTakenBack), 1U);
  EXPECT_EQ(connect(40'000), Verdict::kConsumed) << "repeated";
}

// The forger has kept the first SYN from the far host, but not a later one.
TEST_F(BetweenGatewaysTest, AForgedConfirmationIsOverWithTheFirstAnswerOfTheFarHost) {
  resolve(kServer);
  ASSERT_EQ(connect(40'000), Verdict::kBridge);
  wait(Duration::milliseconds(5));
  ASSERT_EQ(answer_from_wan(40'000), Verdict::kBridge);
  ASSERT_EQ(count(Counter::kAddressesBetween), 1U);
  wait(Duration::seconds(10));
  ASSERT_EQ(connect(40'001), Verdict::kBridge);
  wait(Duration::milliseconds(305));
  answer_from_far_lan(40'001);
  wait(Duration::milliseconds(305));
  EXPECT_EQ(count(Counter::kDroppedTakenBack), 1U);
  EXPECT_EQ(count(Counter::kHintsVoid), 1U);
  EXPECT_EQ(connect(40'001), Verdict::kConsumed) << "repeated";
  EXPECT_EQ(connect(40'002), Verdict::kConsumed);
}

}  // namespace
}  // namespace satrelay::gateway::forged_devices_test
