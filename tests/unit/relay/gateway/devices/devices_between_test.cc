// A device between the two gateways, which no prefix matches but that of the peer for all
// addresses. Its connections are bridged, as the far gateway does not reach it.

#include <gtest/gtest.h>

#include "tests/unit/relay/gateway/devices/devices_between_fixture.h"

namespace satrelay::gateway::devices_between_test {
namespace {

TEST_F(BetweenGatewaysTest, ADeviceThatAnswersSoonIsBridged) {
  for (const char* const modem : {kModem, kModem6}) {
    ASSERT_EQ(explained(modem), std::nullopt);
    resolve(modem);
    EXPECT_EQ(connect(40'000, modem), Verdict::kBridge) << modem;
    wait(Duration::milliseconds(5));
    EXPECT_EQ(answer_from_wan(40'000, modem), Verdict::kBridge);
    EXPECT_EQ(explained(modem), Counter::kBridgedBetweenGateways);
    wait(Duration::seconds(60));
    EXPECT_EQ(connect(40'001, modem), Verdict::kBridge);
    wait(Duration::milliseconds(5));
    EXPECT_EQ(answer_from_wan(40'001, modem), Verdict::kBridge);
  }
  EXPECT_EQ(count(Counter::kAddressesBetween), 2U);
  EXPECT_EQ(count(Counter::kBridgedOnTrial), 2U);
  EXPECT_EQ(count(Counter::kBridgedBetweenGateways), 2U);
  EXPECT_EQ(count(Counter::kHintsVoid), 0U);
  EXPECT_EQ(connect(40'002), Verdict::kConsumed) << "a far host";
}

// Beyond the WAN port, a router connects VLANs of this LAN (a router on a stick).
TEST_F(BetweenGatewaysTest, AHostOfAnotherVlanThatARouterReachesIsBridged) {
  constexpr auto kNeighbour = "192.168.20.5";
  wire::EthernetHeader tagged;
  tagged.source = kServerMac;
  tagged.destination = MacAddress::broadcast();
  tagged.tag_count = 1;
  tagged.tags[0] = {.tpid = 0x8100, .tci = 20};
  EXPECT_EQ(connect(40'000, kNeighbour), Verdict::kConsumed) << "nothing tells of it";
  lan(arp_frame(tagged, {.operation = wire::ArpOperation::kRequest,
                         .sender_mac = kServerMac,
                         .sender = ip_of(kNeighbour),
                         .target_mac = {},
                         .target = ip_of("192.168.20.1")}));
  EXPECT_EQ(connect(40'001, kNeighbour), Verdict::kBridge);
  wait(Duration::milliseconds(5));
  EXPECT_EQ(answer_from_wan(40'001, kNeighbour), Verdict::kBridge);
  EXPECT_EQ(explained(kNeighbour), Counter::kBridgedBetweenGateways);
  EXPECT_EQ(count(Counter::kAddressesBetween), 1U);
}

// Each ARP request names the address and the MAC of its sender. IPv6 hosts rarely do: their
// solicitations have the address as the source, and their answers to one host leave out the MAC.
TEST_F(BetweenGatewaysTest, AHostOfAnotherVlanThatARouterReachesOverIpv6IsBridged) {
  constexpr auto kRouter = "2001:db8:20::1";
  wire::EthernetHeader tagged;
  tagged.source = kServerMac;
  tagged.destination = kModemMac;
  tagged.tag_count = 1;
  tagged.tags[0] = {.tpid = 0x8100, .tci = 20};
  const auto say_once = [&](const char* source, const wire::NeighbourMessage& message) {
    lan(neighbour_frame(tagged, ip_of(source), ip_of(kRouter), message));
  };
  say_once("::", {.target = ip_of("2001:db8:20::7")});
  EXPECT_EQ(connect(40'000, "2001:db8:20::7"), Verdict::kConsumed) << "it may not get the address";
  say_once("2001:db8:20::5", {.target = ip_of(kRouter)});
  say_once("fe80::6", {.advertisement = true, .target = ip_of("2001:db8:20::6")});
  for (const char* const host : {"2001:db8:20::5", "2001:db8:20::6"}) {
    EXPECT_EQ(connect(40'001, host), Verdict::kBridge) << host;
    wait(Duration::milliseconds(5));
    EXPECT_EQ(answer_from_wan(40'001, host), Verdict::kBridge);
    EXPECT_EQ(explained(host), Counter::kBridgedBetweenGateways);
  }
}

// A new session does not know its shortest round trip yet.
TEST_F(BetweenGatewaysTest, AKnownDeviceIsBridgedAtOnceAfterARestartOfThePeer) {
  resolve(kModem);
  ASSERT_EQ(connect(40'000, kModem), Verdict::kBridge);
  ASSERT_EQ(answer_from_wan(40'000, kModem), Verdict::kBridge);
  restart_far_gateway();
  ASSERT_EQ(connect(40'001, kServer), Verdict::kConsumed) << "relayed";
  EXPECT_EQ(connect(40'002, kModem), Verdict::kBridge);
  EXPECT_EQ(explained(kModem), Counter::kBridgedBetweenGateways);
}

// A browser opens several connections at once.
TEST_F(BetweenGatewaysTest, ConnectionsAtOnceAreTriedTogether) {
  resolve(kModem);
  for (std::uint16_t port = 40'000; port < 40'006; ++port) {
    EXPECT_EQ(connect(port, kModem), Verdict::kBridge);
  }
  wait(Duration::milliseconds(5));
  for (std::uint16_t port = 40'000; port < 40'006; ++port) {
    EXPECT_EQ(answer_from_wan(port, kModem), Verdict::kBridge);
  }
  EXPECT_EQ(count(Counter::kAddressesBetween), 1U);
}

TEST_F(BetweenGatewaysTest, APortThatRefusesConfirmsTheDeviceToo) {
  resolve(kModem);
  ASSERT_EQ(connect(40'000, kModem), Verdict::kBridge);
  const auto refusal = syn_ack(40'000, 1'001, Flags::kRst | Flags::kAck);
  EXPECT_EQ(wan(from_server(refusal, kModem)), Verdict::kBridge);
  EXPECT_EQ(count(Counter::kAddressesBetween), 1U);
}

TEST_F(BetweenGatewaysTest, APortOfAConfirmedDeviceMayBeSilent) {
  resolve(kModem);
  ASSERT_EQ(connect(40'000, kModem), Verdict::kBridge);
  ASSERT_EQ(connect(40'001, kModem), Verdict::kBridge);
  wait(Duration::milliseconds(5));
  ASSERT_EQ(answer_from_wan(40'000, kModem), Verdict::kBridge);
  wait(Duration::seconds(1));
  EXPECT_EQ(connect(40'001, kModem), Verdict::kBridge) << "repeated";
  EXPECT_EQ(count(Counter::kHintsVoid), 0U);
}

TEST_F(BetweenGatewaysTest, AnAnswerAsLateAsAFarHostsIsNoHint) {
  resolve(kServer, Duration::milliseconds(350));
  EXPECT_EQ(connect(40'000), Verdict::kConsumed);
  // An answer to the first of two questions arrives soon after the second.
  ask(kModem);
  wait(Duration::milliseconds(900));
  resolve(kModem);
  EXPECT_EQ(connect(40'001, kModem), Verdict::kConsumed);
  // An answer without a question gives no hint.
  answer("192.168.100.7");
  EXPECT_EQ(connect(40'002, "192.168.100.7"), Verdict::kConsumed);
}

// The device's SYN-ACK is lost on the LAN, or the device is slow to send one.
TEST_F(BetweenGatewaysTest, ARepeatedSynOfADeviceDecidesNothingByALateAnswer) {
  resolve(kModem);
  ASSERT_EQ(connect(40'000, kModem), Verdict::kBridge);
  ASSERT_EQ(answer_from_wan(40'000, kModem), Verdict::kBridge);
  ASSERT_EQ(connect(40'001, kModem), Verdict::kBridge);
  wait(Duration::seconds(1));
  ASSERT_EQ(connect(40'001, kModem), Verdict::kBridge);
  wait(Duration::milliseconds(200));
  EXPECT_EQ(answer_from_wan(40'001, kModem), Verdict::kBridge);
  EXPECT_EQ(count(Counter::kHintsVoid), 0U);
}

TEST_F(BetweenGatewaysTest, ASynWithDataIsNotTried) {
  resolve(kServer);
  EXPECT_EQ(say(tcp_frame(kClient, kServer, syn(40'000), host_to_server(), "secret")),
            Verdict::kConsumed);
  EXPECT_EQ(count(Counter::kBridgedOnTrial), 0U);
}

TEST_F(BetweenGatewaysTest, AnAddressThatTheFarLanHasIsRelayed) {
  tell_on_far_lan(kServer);
  resolve(kServer);
  ASSERT_EQ(connect(40'000), Verdict::kBridge);
  wait(Duration::milliseconds(5));
  ASSERT_EQ(answer_from_wan(40'000), Verdict::kBridge) << "forged";
  EXPECT_EQ(explained(kServer), Counter::kBridgedBetweenGateways);
  wait(Duration::seconds(1));
  EXPECT_EQ(explained(kServer), std::nullopt) << "gateway B has said so";
  EXPECT_EQ(connect(40'001), Verdict::kConsumed);
  EXPECT_EQ(lan(tcp_frame(kClient, kServer, behind(40'000))), Verdict::kDrop)
      << "what stands is reset";
  wait(Duration::milliseconds(5));
  EXPECT_TRUE(take(to_host_, Flags::kRst));
}

// ARP showed the address there long ago.
TEST_F(BetweenGatewaysTest, AnAddressThatTheFarLanHadIsNoObstacle) {
  tell_on_far_lan(kModem);
  wait(Duration::seconds(301));
  resolve(kModem);
  ASSERT_EQ(connect(40'000, kModem), Verdict::kBridge);
  wait(Duration::milliseconds(5));
  ASSERT_EQ(answer_from_wan(40'000, kModem), Verdict::kBridge);
  wait(Duration::seconds(1));
  EXPECT_EQ(explained(kModem), Counter::kBridgedBetweenGateways);
}

// The device was set up on the far LAN, and its ARP is seen there again.
TEST_F(BetweenGatewaysTest, TheFarGatewayIsAskedAgainAboutADevice) {
  resolve(kModem);
  ASSERT_EQ(connect(40'000, kModem), Verdict::kBridge);
  ASSERT_EQ(answer_from_wan(40'000, kModem), Verdict::kBridge);
  wait(Duration::seconds(61));
  ASSERT_EQ(explained(kModem), Counter::kBridgedBetweenGateways);
  tell_on_far_lan(kModem);
  ASSERT_EQ(connect(40'001, kModem), Verdict::kBridge);
  wait(Duration::milliseconds(700));
  EXPECT_EQ(explained(kModem), std::nullopt);
}

class BetweenGatewaysOfTwoWorkers : public BetweenGatewaysTest {
 protected:
  void SetUp() override { start({"0.0.0.0/0", "::/0"}, common_); }
  std::shared_ptr<CommonKnowledge> common_ = std::make_shared<CommonKnowledge>(HashKey{1, 2}, 1);
};

// Another worker has found the device. A port of the device that this worker tries is silent.
TEST_F(BetweenGatewaysOfTwoWorkers, ASilentPortIsNotHeldAgainstADeviceThatAnotherWorkerKnows) {
  resolve(kModem);
  ASSERT_EQ(connect(40'000, kModem), Verdict::kBridge);
  wait(Duration::milliseconds(5));
  ASSERT_TRUE(common_->between.confirm({ip_of(kModem), Vlans{}}, now_));
  wait(Duration::seconds(1));
  EXPECT_EQ(connect(40'000, kModem), Verdict::kBridge) << "repeated";
  EXPECT_EQ(count(Counter::kHintsVoid), 0U);
  EXPECT_EQ(explained(kModem), Counter::kBridgedBetweenGateways);
}

class ShortPath : public BetweenGatewaysTest {
 protected:
  ShortPath() { one_way_ = Duration::milliseconds(50); }
};

TEST_F(ShortPath, ShowsNothingByItsTime) {
  resolve(kModem);
  EXPECT_EQ(connect(40'000, kModem), Verdict::kConsumed);
}

TEST_F(BetweenGatewaysTest, AWrittenPrefixDecidesAgainstAnyHint) {
  start({"198.51.100.0/24"});
  resolve(kServer);
  EXPECT_EQ(connect(40'000), Verdict::kConsumed);
  EXPECT_EQ(count(Counter::kBridgedOnTrial), 0U);
}

}  // namespace
}  // namespace satrelay::gateway::devices_between_test
