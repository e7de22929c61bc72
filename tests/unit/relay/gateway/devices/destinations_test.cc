// Which peers a hub tells where hosts of its LAN address their frames, and which messages of peers
// about that it believes.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string_view>

#include "pep/wire/arp.h"
#include "relay/gateway/peers/lan_destination.h"
#include "tests/unit/relay/gateway/hub_fixture.h"

namespace satrelay::gateway::destinations_test {
namespace {

using Flags = wire::TcpFlags;

constexpr auto kHere = "203.0.113.5";
constexpr auto kFirst = "10.1.0.5", kSecond = "10.2.0.5";  // behind the terminals
constexpr MacAddress kOtherMac{{2, 0, 0, 0, 9, 9}};

class Destinations : public HubTest {
 protected:
  using HubTest::HubTest;

  void server_tells_its_mac() {
    FrameBytes arp(wire::kEthernetHeaderSize + wire::kArpSize);
    wire::EthernetHeader ethernet;
    ethernet.source = kServerMac;
    ethernet.destination = MacAddress::broadcast();
    ethernet.type = wire::EtherType::kArp;
    wire::write_ethernet(ethernet, arp);
    wire::write_arp({.operation = wire::ArpOperation::kReply,
                     .sender_mac = kServerMac,
                     .sender = ip_of(kHere),
                     .target_mac = {},
                     .target = ip_of(kHere)},
                    MutableBytes(arp).subspan(wire::kEthernetHeaderSize));
    lan(arp);
  }
  // The server answers the SYN that the hub has sent in the name of `client`, but to another MAC
  // than the client's.
  void server_answers_elsewhere(std::string_view client) {
    const auto asked = std::ranges::find_if(on_lan_, [&](const FrameBytes& bytes) {
      const Frame frame = look_at(bytes);
      return frame.kind == FrameKind::kTcp && frame.ip.source == ip_of(client);
    });
    ASSERT_NE(asked, on_lan_.end());
    wire::TcpHeader tcp = syn(9'000);
    tcp.source_port = 80;
    tcp.destination_port = 40'000;
    tcp.flags = Flags::kSyn | Flags::kAck;
    tcp.acknowledgment = wire::parse_tcp(look_at(*asked).payload)->header.sequence + 1;
    wire::EthernetHeader ethernet;
    ethernet.source = kServerMac;
    ethernet.destination = kOtherMac;
    ASSERT_EQ(lan(tcp_frame(kHere, client, tcp, ethernet)), Verdict::kConsumed);
    step();
    step();
  }
  std::optional<LanDestination> told_to(std::size_t terminal) {
    for (const stp::StreamId stream : streams_[terminal]) {
      const ConstBytes message = terminals_[terminal].session().streams().metadata(stream);
      if (message.empty() || load_u8(message.data()) != kLanDestinationMessage) continue;
      return parse_lan_destination(message);
    }
    return std::nullopt;
  }
  // The second terminal tells about its own host `near` and kHere.
  void second_says(std::string_view near, std::optional<stp::StreamId> stream,
                   std::uint8_t tags = 0) {
    ASSERT_TRUE(stream);
    LanDestination told{
        .stream = *stream, .near = ip_of(near), .far = ip_of(kHere), .ethernet = {}};
    told.ethernet.destination = kOtherMac;
    told.ethernet.tag_count = tags;
    told.ethernet.tags[0] = {.tpid = 0x8100, .tci = 7};
    std::array<std::byte, kMaxLanDestination> message{};
    const std::size_t size = write_lan_destination(told, message);
    EXPECT_TRUE(terminals_[1].session().streams().open(ConstBytes(message).first(size), 0, now_));
    step();
    step();
  }
  std::size_t segments(std::string_view client, const MacAddress& mac) const {
    return static_cast<std::size_t>(std::ranges::count_if(on_lan_, [&](const FrameBytes& bytes) {
      const Frame frame = look_at(bytes);
      return frame.kind == FrameKind::kTcp && frame.ip.source == ip_of(client) &&
             frame.ethernet.destination == mac;
    }));
  }
};

TEST_F(Destinations, ConcernFlowsOfTheirSenderAlone) {
  server_tells_its_mac();
  open(0, open_of(kFirst, kHere));
  const auto of_first = terminals_[0].last();
  open(1, open_of(kSecond, kHere));
  const auto of_second = terminals_[1].last();
  second_says(kFirst, of_second);
  second_says(kFirst, of_first);
  second_says("10.2.0.6", of_second);
  second_says(kSecond, stp::StreamId{999});
  second_says(kSecond, of_second, 1);
  EXPECT_EQ(count(Counter::kDestinationsRefused), 5U);
  EXPECT_EQ(count(Counter::kDestinationsHeard), 0U);
  second_says(kSecond, of_second);
  EXPECT_EQ(count(Counter::kDestinationsHeard), 1U);
  on_lan_.clear();
  for (int i = 0; i < 80; ++i) step();
  EXPECT_GE(segments(kFirst, kServerMac), 2U);
  EXPECT_EQ(segments(kFirst, kOtherMac), 0U);
  EXPECT_EQ(segments(kSecond, kOtherMac), 1U);
  const auto is_question = [](const FrameBytes& bytes) {
    return look_at(bytes).kind == FrameKind::kArp;
  };
  EXPECT_FALSE(std::ranges::any_of(on_lan_, is_question));
}

TEST_F(Destinations, AreToldOfAServer) {
  open(0, open_of(kFirst, kHere));
  server_answers_elsewhere(kFirst);
  EXPECT_EQ(count(Counter::kDestinationsTold), 1U);
  const auto told = told_to(0);
  ASSERT_TRUE(told);
  EXPECT_EQ(told->stream, terminals_[0].last());
  EXPECT_EQ(told->near, ip_of(kHere));
  EXPECT_EQ(told->far, ip_of(kFirst));
  EXPECT_EQ(told->ethernet.destination, kOtherMac);
}

class DestinationsOfOld : public Destinations {
 protected:
  DestinationsOfOld() : Destinations(hub(), Knows::kUnknown) {}
};

TEST_F(DestinationsOfOld, AreNotToldToAPeerThatDoesNotUnderstandThem) {
  open(1, open_of(kSecond, kHere));
  server_answers_elsewhere(kSecond);
  EXPECT_EQ(count(Counter::kFlowsFromPeer), 1U);
  EXPECT_EQ(count(Counter::kDestinationsTold) + count(Counter::kDestinationsUntold), 0U);
  EXPECT_FALSE(told_to(1));
  second_says(kSecond, terminals_[1].last());
  EXPECT_EQ(count(Counter::kDestinationsHeard) + count(Counter::kDestinationsRefused), 0U);
  EXPECT_EQ(reasons_[1], std::vector<stp::ResetReason>{stp::ResetReason::kPolicy});
}

config::Gateway routed_hub() {
  config::Gateway config = hub();
  config.gateway.address = *IpPrefix::parse("192.0.2.0/31");
  config.gateway.next_hop = ip_of("192.0.2.0");
  return config;
}

class DestinationsBehindARouter : public Destinations {
 protected:
  DestinationsBehindARouter() : Destinations(routed_hub()) {}
};

TEST_F(DestinationsBehindARouter, AreNeitherToldNorTaken) {
  server_tells_its_mac();
  open(1, open_of(kSecond, kHere));
  server_answers_elsewhere(kSecond);
  EXPECT_EQ(count(Counter::kFlowsFromPeer), 1U);
  EXPECT_EQ(count(Counter::kDestinationsTold), 0U);
  EXPECT_FALSE(told_to(1));
  second_says(kSecond, terminals_[1].last());
  EXPECT_EQ(count(Counter::kDestinationsHeard), 0U);
  EXPECT_EQ(count(Counter::kDestinationsRefused), 1U);
}

}  // namespace
}  // namespace satrelay::gateway::destinations_test
