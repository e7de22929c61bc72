#include "relay/gateway/addresses/lan/lan_neighbours.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "pep/wire/arp.h"
#include "pep/wire/icmp.h"
#include "tests/support/gateway_config.h"
#include "tests/unit/relay/gateway/frame_builder.h"

namespace satrelay::gateway::lan_neighbours_test {
namespace {

constexpr MacAddress kRouterMac{{2, 0, 0, 0, 0, 0x77}};
constexpr auto kHost = "203.0.113.5";
constexpr auto kFar = "198.51.100.5";

config::Gateway behind_a_router() {
  return test::gateway_config(
      {.own = "192.0.2.2", .subnet = "192.0.2.0/29", .next_hop = "192.0.2.1"},
      {test::peer_config("far", "192.0.2.130", {"198.51.100.0/24"})});
}

wire::EthernetHeader tagged(const MacAddress& from, const MacAddress& to) {
  wire::EthernetHeader ethernet;
  ethernet.source = from;
  ethernet.destination = to;
  ethernet.tag_count = 1;
  ethernet.tags[0] = {0x8100, 7};
  return ethernet;
}

class LanNeighboursTest : public testing::Test {
 protected:
  LanNeighboursTest() { lan.set_router(kRouterMac); }
  FrameBytes arp(std::string_view sender, const MacAddress& mac,
                 std::optional<std::uint16_t> tci = std::nullopt) {
    wire::EthernetHeader ethernet;
    ethernet.source = mac;
    ethernet.destination = kRouterMac;
    if (tci) {
      ethernet.tag_count = 1;
      ethernet.tags[0] = {0x8100, *tci};
    }
    ethernet.type = wire::EtherType::kArp;
    FrameBytes frame(ethernet.size() + wire::kArpSize);
    wire::write_ethernet(ethernet, frame);
    wire::write_arp({.operation = wire::ArpOperation::kReply,
                     .sender_mac = mac,
                     .sender = ip_of(sender),
                     .target_mac = kRouterMac,
                     .target = ip_of("0.0.0.0")},
                    MutableBytes(frame).subspan(ethernet.size()));
    return frame;
  }
  std::size_t question() { return lan.poll_frame(out, now); }
  std::optional<wire::EthernetHeader> find(std::string_view host) {
    return lan.find(ip_of(host), now);
  }
  // The router sends a packet from the WAN to a host with this MAC.
  void wan(std::string_view host, const MacAddress& mac) {
    lan.note_from_wan(look_at(udp_frame(kFar, host, 9, FrameBytes(8), tagged(kRouterMac, mac))),
                      now);
  }
  void wait(Duration duration) {
    now += duration;
    lan.handle_timeout(now);
  }

  config::Gateway config = behind_a_router();
  Policy policy{config};
  Counters counters;
  AwaitedAnswers awaited{HashKey{1, 2}};
  LanNeighbours lan{config, policy, HashKey{1, 2}, kGatewayMac, awaited, counters};
  FrameBytes out = FrameBytes(1514);
  Instant now = Instant::from_nanoseconds(1);
};

TEST_F(LanNeighboursTest, LearnsFromWhatHostsSendFar) {
  const FrameBytes sent = udp_frame(kHost, kFar, 9, FrameBytes(8), tagged(kHostMac, kRouterMac));
  const auto heard = lan.learn_from_lan(look_at(sent), now);
  ASSERT_TRUE(heard);
  EXPECT_EQ(heard->host, ip_of(kHost));
  const auto towards = find(kHost);
  ASSERT_TRUE(towards);
  EXPECT_EQ(towards->destination, kHostMac);
  EXPECT_EQ(towards->source, kRouterMac);
  EXPECT_EQ(towards->tags[0].vlan_id(), 7);
  // A packet between two hosts of the LAN says nothing about the router.
  EXPECT_FALSE(lan.learn_from_lan(look_at(udp_frame("203.0.113.7", kHost, 9, FrameBytes(8))), now));
  EXPECT_FALSE(find("203.0.113.7"));
  EXPECT_FALSE(find(kFar));
}

TEST_F(LanNeighboursTest, AnAnswerChangesTheHostsMacAndKeepsTheRouters) {
  ASSERT_TRUE(lan.learn_from_lan(look_at(arp(kHost, kHostMac)), now));
  EXPECT_EQ(find(kHost)->source, kRouterMac);
  wire::EthernetHeader by_another = host_to_server();
  by_another.destination = kPeerMac;  // the router has a second MAC
  ASSERT_TRUE(
      lan.learn_from_lan(look_at(udp_frame(kHost, kFar, 9, FrameBytes(8), by_another)), now));
  ASSERT_TRUE(lan.learn_from_lan(look_at(arp(kHost, kServerMac)), now));
  EXPECT_EQ(find(kHost)->destination, kServerMac);
  EXPECT_EQ(find(kHost)->source, kPeerMac);
  EXPECT_FALSE(lan.learn_from_lan(look_at(arp("203.0.113.8", kRouterMac)), now))
      << "our own question";
}

// Any station on the WAN may have sent that frame.
TEST_F(LanNeighboursTest, WhatTheWanShowsIsUsedWhenTheHostDoesNotAnswer) {
  wan(kHost, kServerMac);
  EXPECT_FALSE(find(kHost));
  lan.ask(ip_of(kHost), now);
  wait(Duration::seconds(1));
  EXPECT_FALSE(lan.take_unanswered(now));
  wait(Duration::seconds(1));
  EXPECT_EQ(lan.next_timeout(), Instant());
  const auto unanswered = lan.take_unanswered(now);
  ASSERT_TRUE(unanswered);
  EXPECT_EQ(unanswered->host, ip_of(kHost));
  EXPECT_EQ(unanswered->towards.destination, kServerMac);
  EXPECT_FALSE(lan.take_unanswered(now));
  ASSERT_TRUE(find(kHost));
  EXPECT_EQ(find(kHost)->destination, kServerMac);
  ASSERT_TRUE(lan.learn_from_lan(look_at(arp(kHost, kHostMac)), now)) << "late, but its own word";
  EXPECT_EQ(find(kHost)->destination, kHostMac);
  EXPECT_EQ(find(kHost)->source, kRouterMac);
  EXPECT_EQ(find(kHost)->tag_count, 0U);
}

TEST_F(LanNeighboursTest, AnAnswerComesBeforeWhatTheWanShows) {
  wan(kHost, kServerMac);
  lan.ask(ip_of(kHost), now);
  ASSERT_TRUE(lan.learn_from_lan(look_at(arp(kHost, kHostMac)), now));
  wait(Duration::seconds(2));
  EXPECT_FALSE(lan.take_unanswered(now));
  EXPECT_EQ(find(kHost)->destination, kHostMac);
}

TEST_F(LanNeighboursTest, TheWanNeitherReplacesNorEvictsWhatTheLanHasSaid) {
  ASSERT_TRUE(lan.learn_from_lan(look_at(arp(kHost, kHostMac)), now));
  for (int i = 0; i < 20'000; ++i) {  // the table has 4,096 places
    const std::string other = "10.1." + std::to_string(i / 200) + '.' + std::to_string(i % 200);
    wan(kHost, kServerMac);
    wan(other, kServerMac);
  }
  ASSERT_TRUE(find(kHost));
  EXPECT_EQ(find(kHost)->destination, kHostMac);
}

TEST_F(LanNeighboursTest, WhatTheWanShowsHasItsPlaceForAMinute) {
  const auto shown = [&] {
    lan.ask(ip_of(kHost), now);
    for (int i = 0; i < 2; ++i) wait(Duration::seconds(1));
    const auto unanswered = lan.take_unanswered(now);
    for (int i = 0; i < 2; ++i) wait(Duration::seconds(1));
    return unanswered ? unanswered->towards.destination : MacAddress();
  };
  wan(kHost, kServerMac);
  wan(kHost, kPeerMac);
  EXPECT_EQ(shown(), kServerMac) << "one does not replace the other";
  now += Duration::seconds(61);
  EXPECT_FALSE(find(kHost)) << "the host is asked anew";
  EXPECT_EQ(shown(), MacAddress());
  wan(kHost, kPeerMac);
  EXPECT_EQ(shown(), kPeerMac);
}

TEST_F(LanNeighboursTest, AsksThreeTimesASecondApartUntilAnswered) {
  lan.ask(ip_of(kHost), now);
  ASSERT_EQ(question(), 14 + wire::kArpSize);
  const auto arp_request = wire::parse_arp(ConstBytes(out).subspan(14));
  ASSERT_TRUE(arp_request);
  EXPECT_EQ(arp_request->target, ip_of(kHost));
  EXPECT_EQ(arp_request->sender, ip_of("0.0.0.0"));
  EXPECT_EQ(arp_request->sender_mac, kRouterMac);
  int asked = 1;
  EXPECT_EQ(question(), 0U);
  for (int i = 0; i < 10; ++i) {
    now = now + Duration::seconds(1);
    lan.handle_timeout(now);
    if (question() > 0) ++asked;
  }
  EXPECT_EQ(asked, 3);
  EXPECT_TRUE(lan.next_timeout().is_never());
  lan.ask(ip_of(kHost), now);
  ASSERT_GT(question(), 0U);
  ASSERT_TRUE(lan.learn_from_lan(look_at(arp(kHost, kHostMac)), now));
  EXPECT_TRUE(lan.next_timeout().is_never());
}

TEST_F(LanNeighboursTest, AnOwnerHasTimeToAnswerEachOfTwoQuestions) {
  lan.learn_from_lan(look_at(arp(kHost, kHostMac)), now);
  lan.learn_from_lan(look_at(arp(kHost, kServerMac)), now);
  wait(Duration::milliseconds(900));  // the port is full, so the question leaves late
  ASSERT_GT(question(), 0U);
  wait(Duration::milliseconds(499));
  EXPECT_EQ(question(), 0U);
  wait(Duration::milliseconds(1));
  ASSERT_GT(question(), 0U);
  wait(Duration::milliseconds(499));
  EXPECT_FALSE(lan.take_moved());
  wait(Duration::milliseconds(1));
  EXPECT_TRUE(lan.take_moved());
  EXPECT_EQ(counters[Counter::kLanMoves], 1U);
  EXPECT_EQ(question(), 0U);
  EXPECT_TRUE(lan.next_timeout().is_never());
}

TEST_F(LanNeighboursTest, AnOwnerWhoseSecondQuestionFindsNoRoomHasNotMoved) {
  lan.learn_from_lan(look_at(arp(kHost, kHostMac)), now);
  lan.learn_from_lan(look_at(arp(kHost, kServerMac)), now);
  ASSERT_GT(question(), 0U);
  wait(Duration::milliseconds(500));
  wait(Duration::milliseconds(1'000));
  EXPECT_FALSE(lan.take_moved());
  EXPECT_EQ(counters[Counter::kLanMovesUnasked], 1U);
  EXPECT_EQ(question(), 0U);
}

// A claim may have other tags than the owner's frames.
TEST_F(LanNeighboursTest, AnOwnerIsAskedByTheTagsThatHaveNamedIt) {
  constexpr std::uint16_t kPriority = 5U << 13U;
  lan.learn_from_lan(look_at(arp(kHost, kHostMac)), now);
  lan.learn_from_lan(look_at(arp(kHost, kServerMac, kPriority)), now);
  std::size_t size = question();
  ASSERT_GT(size, 0U);
  Frame asked = look_at(ConstBytes(out).first(size));
  EXPECT_EQ(asked.ethernet.destination, kHostMac);
  EXPECT_EQ(asked.ethernet.tag_count, 0);
  lan.learn_from_lan(look_at(arp(kHost, kHostMac, kPriority)), now);
  EXPECT_EQ(counters[Counter::kLanMovesDisputed], 1U);

  lan.learn_from_lan(look_at(arp("203.0.113.9", kHostMac, kPriority | 7U)), now);
  lan.learn_from_lan(look_at(arp("203.0.113.9", kServerMac, 7)), now);
  size = question();
  ASSERT_GT(size, 0U);
  asked = look_at(ConstBytes(out).first(size));
  ASSERT_EQ(asked.ethernet.tag_count, 1);
  EXPECT_EQ(asked.ethernet.tags[0].tci, kPriority | 7U);
}

TEST_F(LanNeighboursTest, AsksWithNeighbourDiscoveryForIpv6) {
  lan.ask(ip_of("2001:db8:a::5"), now);
  const std::size_t size = question();
  ASSERT_GT(size, 0U);
  const Frame frame = look_at(ConstBytes(out).first(size));
  ASSERT_EQ(frame.kind, FrameKind::kIcmp);
  EXPECT_EQ(frame.ip.source, ip_of("::"));
  EXPECT_EQ(frame.ip.destination, ip_of("ff02::1:ff00:5"));
  EXPECT_EQ(frame.ip.hop_limit, 255);
  const auto message = wire::parse_icmp(frame.ip, frame.payload);
  ASSERT_TRUE(message);
  const auto neighbour = wire::parse_neighbour(*message);
  ASSERT_TRUE(neighbour);
  EXPECT_EQ(neighbour->target, ip_of("2001:db8:a::5"));
  EXPECT_FALSE(neighbour->link_layer) << "RFC 4861 section 4.3: not with an open source";
}

TEST(LanNeighboursOfOneSegment, AreNotNeeded) {
  config::Gateway config = behind_a_router();
  config.peers[0].address = ip_of("192.0.2.3");
  const Policy policy(config);
  Counters counters;
  AwaitedAnswers awaited(HashKey{1, 2});
  LanNeighbours lan(config, policy, HashKey{1, 2}, kGatewayMac, awaited, counters);
  EXPECT_FALSE(lan.is_routed(FarGatewayId()));
  EXPECT_FALSE(lan.learn_from_lan(look_at(udp_frame(kHost, kFar, 9, FrameBytes(8))), Instant()));
  EXPECT_FALSE(lan.find(ip_of(kHost), Instant()));
}

}  // namespace
}  // namespace satrelay::gateway::lan_neighbours_test
