// Frames in the gateway's name come from the gateway only. Neither a host of the LAN nor a machine
// of the WAN with the same address can send in its name.
#include <gtest/gtest.h>

#include "pep/wire/arp.h"
#include "pep/wire/icmp.h"
#include "tests/unit/relay/gateway/gateway_fixture.h"

namespace satrelay::gateway::forged_gateway_test {
namespace {

constexpr auto kOwn = "192.0.2.1";
constexpr auto kPeer = "192.0.2.2";
constexpr auto kOwnV6 = "2001:db8::1";
constexpr auto kPeerV6 = "2001:db8::2";
constexpr MacAddress kForger{{2, 0, 0, 0, 0, 0x66}};

wire::EthernetHeader from_forger(std::initializer_list<std::uint16_t> vlans = {}) {
  wire::EthernetHeader ethernet;
  ethernet.source = kForger;
  ethernet.destination = MacAddress::broadcast();
  for (const std::uint16_t vlan : vlans) ethernet.tags[ethernet.tag_count++] = {0x8100, vlan};
  return ethernet;
}

FrameBytes arp(std::string_view sender, std::string_view target,
               wire::ArpOperation operation = wire::ArpOperation::kReply,
               wire::EthernetHeader ethernet = from_forger()) {
  ethernet.type = wire::EtherType::kArp;
  FrameBytes frame(ethernet.size() + wire::kArpSize);
  wire::write_ethernet(ethernet, frame);
  wire::write_arp({.operation = operation,
                   .sender_mac = ethernet.source,
                   .sender = ip_of(sender),
                   .target_mac = kServerMac,
                   .target = ip_of(target)},
                  MutableBytes(frame).subspan(ethernet.size()));
  return frame;
}

// An ICMPv6 message with `target` after its first eight octets, and then a link-layer option.
FrameBytes neighbour(std::uint8_t type, std::string_view source, std::string_view target,
                     const wire::EthernetHeader& ethernet = from_forger()) {
  wire::IpHeader ip;
  ip.source = ip_of(source);
  ip.destination = ip_of("ff02::1");
  ip.protocol = wire::kProtocolIcmpV6;
  ip.hop_limit = 255;
  FrameBytes body(24);
  std::ranges::copy(std::as_bytes(std::span(ip_of(target).octets())), body.begin());
  body[16] =
      std::byte{type == wire::kIcmpV6NeighbourSolicitation ? std::uint8_t{1} : std::uint8_t{2}};
  body[17] = std::byte{1};
  std::ranges::copy(std::as_bytes(std::span(kForger.octets)), body.begin() + 18);
  FrameBytes message(wire::kIcmpHeaderSize + body.size());
  wire::write_icmp(ip, {.type = type, .code = 0, .rest = 0, .body = body}, message);
  return ip_frame(ethernet, ip, message);
}

class ForgedGatewayV6 : public GatewayTest {
 protected:
  void SetUp() override {
    config_a_.gateway.own = ip_of(kOwnV6);
    config_a_.gateway.address = *IpPrefix::parse("2001:db8::/64");
    config_a_.peers[0].address = ip_of(kPeerV6);
    a_ = std::make_unique<Gateway>(
        config_a_, Identity{.boot_epoch = 2, .secret = {1, 2}, .wan_mac = kGatewayMac}, memory_a_,
        now_);
  }
};

TEST_F(GatewayTest, ArpFromTheLanInAGatewaysNameIsDropped) {
  using enum wire::ArpOperation;
  std::uint64_t dropped = 0;
  for (const auto gateway : {kOwn, kPeer}) {
    EXPECT_EQ(lan(arp(gateway, gateway, kRequest)), Verdict::kDrop) << "gratuitous";
    EXPECT_EQ(lan(arp(gateway, kOwn)), Verdict::kDrop);
    EXPECT_EQ(lan(arp(gateway, kPeer)), Verdict::kDrop);
    EXPECT_EQ(lan(arp(gateway, kServer, kRequest)), Verdict::kDrop) << "hosts learn from requests";
    EXPECT_EQ(count(Counter::kDroppedForgedGateway), dropped += 4);
  }
  EXPECT_EQ(lan(arp(kClient, kPeer, kRequest)), Verdict::kBridge);
  EXPECT_EQ(lan(arp("0.0.0.0", kPeer, kRequest)), Verdict::kBridge) << "RFC 5227: a question";
}

TEST_F(GatewayTest, ArpThatHostsUnderstandAndAGatewayNeedNotIsDroppedToo) {
  FrameBytes frame = arp(kPeer, kOwn);
  frame[15] = std::byte{6};  // hardware type IEEE 802, which Linux takes for Ethernet
  EXPECT_EQ(lan(frame), Verdict::kDrop);
  frame[21] = std::byte{9};  // an InARP reply
  EXPECT_EQ(lan(frame), Verdict::kDrop);
}

TEST_F(GatewayTest, TheSameAddressInAnotherVlanIsAnotherMachine) {
  using enum wire::ArpOperation;
  EXPECT_EQ(lan(arp(kPeer, kOwn, kReply, from_forger({7}))), Verdict::kBridge);
  EXPECT_EQ(lan(arp(kPeer, kOwn, kReply, from_forger({0}))), Verdict::kDrop) << "a priority";
  EXPECT_EQ(lan(arp(kPeer, kOwn, kReply, from_forger({0, 0}))), Verdict::kDrop);
  config_a_.gateway.vlan = 7;
  a_ = std::make_unique<Gateway>(
      config_a_, Identity{.boot_epoch = 2, .secret = {1, 2}, .wan_mac = kGatewayMac}, memory_a_,
      now_);
  EXPECT_EQ(lan(arp(kPeer, kOwn)), Verdict::kBridge);
  EXPECT_EQ(lan(arp(kPeer, kOwn, kReply, from_forger({7}))), Verdict::kDrop);
  EXPECT_EQ(lan(arp(kPeer, kOwn, kReply, from_forger({0, 7}))), Verdict::kDrop);
}

TEST_F(GatewayTest, WhatClaimsItsAddressOnTheWanGoesNoFurther) {
  EXPECT_EQ(wan(arp(kOwn, kPeer)), Verdict::kConsumed);
  EXPECT_EQ(wan(arp(kOwn, kOwn, wire::ArpOperation::kRequest)), Verdict::kConsumed);
  EXPECT_EQ(count(Counter::kAddressConflicts), 2U);
  EXPECT_EQ(count(Counter::kBridgedFromWan), 0U);
}

TEST_F(GatewayTest, APeerIsNotBehindTheGatewaysOwnMac) {
  wire::EthernetHeader ethernet = from_forger();
  ethernet.source = kGatewayMac;
  EXPECT_EQ(wan(arp(kPeer, kOwn, wire::ArpOperation::kReply, ethernet)), Verdict::kConsumed);
  EXPECT_FALSE(a_->peers()[0].resolved);
}

TEST_F(ForgedGatewayV6, NeighbourDiscoveryFromTheLanInAGatewaysNameIsDropped) {
  constexpr std::uint8_t kRouterSolicitation = 133, kRouterAdvertisement = 134, kRedirect = 137;
  constexpr auto kHost = "2001:db8::77";
  std::uint64_t dropped = 0;
  for (const auto gateway : {kOwnV6, kPeerV6}) {
    EXPECT_EQ(lan(neighbour(wire::kIcmpV6NeighbourAdvertisement, kHost, gateway)), Verdict::kDrop);
    EXPECT_EQ(lan(neighbour(kRedirect, "fe80::1", gateway)), Verdict::kDrop);
    for (const auto type : {wire::kIcmpV6NeighbourSolicitation, kRouterSolicitation,
                            kRouterAdvertisement, wire::kIcmpV6NeighbourAdvertisement}) {
      EXPECT_EQ(lan(neighbour(type, gateway, kHost)), Verdict::kDrop) << int{type};
    }
    EXPECT_EQ(count(Counter::kDroppedForgedGateway), dropped += 6);
  }
  EXPECT_EQ(lan(neighbour(wire::kIcmpV6NeighbourAdvertisement, kHost, kHost)), Verdict::kBridge);
  EXPECT_EQ(lan(neighbour(wire::kIcmpV6NeighbourSolicitation, kHost, kPeerV6)), Verdict::kBridge);
  EXPECT_EQ(lan(neighbour(wire::kIcmpV6NeighbourAdvertisement, kHost, kPeerV6, from_forger({7}))),
            Verdict::kBridge)
      << "another network";
}

TEST_F(ForgedGatewayV6, WhatClaimsItsAddressOnTheWanGoesNoFurther) {
  EXPECT_EQ(wan(neighbour(wire::kIcmpV6NeighbourAdvertisement, "fe80::1", kOwnV6)),
            Verdict::kConsumed);
  EXPECT_EQ(wan(neighbour(wire::kIcmpV6NeighbourSolicitation, kOwnV6, kPeerV6)),
            Verdict::kConsumed);
  EXPECT_EQ(count(Counter::kAddressConflicts), 2U);
  wire::EthernetHeader come_back = from_forger();
  come_back.source = kGatewayMac;
  EXPECT_EQ(wan(neighbour(wire::kIcmpV6NeighbourSolicitation, kOwnV6, kPeerV6, come_back)),
            Verdict::kBridge);
  EXPECT_EQ(count(Counter::kAddressConflicts), 2U);
}

}  // namespace
}  // namespace satrelay::gateway::forged_gateway_test
