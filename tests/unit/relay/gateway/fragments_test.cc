// Fragments, and segments behind extension headers, from the LAN. They are relayed if they belong
// to a relayed connection. Otherwise they are bridged as they came.
#include "relay/sim/network/fragments.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "relay/gateway/frames/fragments/reassembly.h"
#include "tests/unit/relay/gateway/relayed_fixture.h"

namespace satrelay::gateway::fragments_test {
namespace {

using config::Action;
using sim::fragments_of;
using sim::with_extension_header;

constexpr std::uint8_t kHopByHop = 0, kRouting = 43, kAtomic = 44, kDestinationOptions = 60;

class Fragments : public RelayedTest {
 protected:
  // All fragments before the last are held, and so consumed. Returns the verdict about the last
  // one.
  Verdict lan_all(const std::vector<FrameBytes>& frames) {
    Verdict last = Verdict::kConsumed;
    for (const FrameBytes& frame : frames) {
      EXPECT_EQ(last, Verdict::kConsumed);
      last = lan(frame);
    }
    return last;
  }
  // Frames that leave by the WAN now, without those of STP.
  std::vector<FrameBytes> bridged() {
    std::vector<FrameBytes> frames;
    while (auto frame = next_frame(PortId::kWan)) {
      if (look_at(*frame).ip.protocol != wire::kProtocolUdp) frames.push_back(*frame);
    }
    return frames;
  }
  void set_rules(std::vector<config::Rule> rules) {
    config_a_.rules = std::move(rules);
    a_->reconfigure(config_a_, now_);
  }
  // A segment of a connection that no gateway relays.
  static FrameBytes stranger(std::string_view from = kClient, std::string_view to = kServer,
                             std::uint16_t port = 4000) {
    wire::TcpHeader tcp = syn(port);
    tcp.flags = wire::TcpFlags::kAck;
    tcp.options = {};
    return tcp_frame(from, to, tcp, host_to_server(), std::string(1000, 's'));
  }
  static FrameBytes udp() { return udp_frame(kClient, kServer, 5000, FrameBytes(1000)); }
  static std::vector<FrameBytes> cut(const FrameBytes& frame, std::size_t size = 400,
                                     std::uint32_t id = 7) {
    return fragments_of(frame, {.size = size, .identification = id});
  }
};

TEST_F(Fragments, OfARelayedConnectionAreTakenAsOneSegment) {
  open();
  auto fragments = cut(frame_of(segment(0), std::string(1000, 'x')));
  ASSERT_EQ(fragments.size(), 3U);
  EXPECT_EQ(lan_all(fragments), Verdict::kConsumed);
  EXPECT_EQ(acknowledged(), 1000U);
  fragments = cut(frame_of(segment(1000), std::string(1000, 'y')));
  std::ranges::reverse(fragments);
  EXPECT_EQ(lan_all(fragments), Verdict::kConsumed);
  EXPECT_EQ(acknowledged(), 2000U);
  EXPECT_EQ(count(Counter::kDatagramsReassembled), 2U);
  EXPECT_EQ(count(Counter::kBridgedFragment), 0U);
  EXPECT_TRUE(bridged().empty());
}

TEST_F(Fragments, OfARelayedConnectionOverIpv6Too) {
  open(kClientV6, kServerV6);
  const FrameBytes plain = frame_of(segment(0), std::string(1000, 'x'));
  EXPECT_EQ(lan_all(cut(plain)), Verdict::kConsumed);
  EXPECT_EQ(acknowledged(), 1000U);
  const FrameBytes options = with_extension_header(
      with_extension_header(frame_of(segment(1000), std::string(1000, 'y')), kDestinationOptions),
      kHopByHop);
  auto fragments = fragments_of(options, {.size = 64, .identification = 1, .unfragmentable = 8});
  std::ranges::reverse(fragments);
  EXPECT_EQ(lan_all(fragments), Verdict::kConsumed);
  EXPECT_EQ(acknowledged(), 2000U);
  // The first fragment begins with the Destination Options header (RFC 7112 requires no less in
  // it).
  const FrameBytes behind =
      with_extension_header(frame_of(segment(2000), std::string(1000, 'z')), kDestinationOptions);
  EXPECT_EQ(lan_all(cut(behind)), Verdict::kConsumed);
  EXPECT_EQ(acknowledged(), 3000U);
  EXPECT_EQ(count(Counter::kBridgedFragment), 0U);
}

TEST_F(Fragments, TheSumIsCheckedOverTheWhole) {
  open();
  auto fragments = cut(frame_of(segment(0), std::string(1000, 'x')));
  fragments[1].back() ^= std::byte{1};
  EXPECT_EQ(lan_all(fragments), Verdict::kDrop);
  EXPECT_EQ(count(Counter::kDroppedBadChecksum), 1U);
  EXPECT_EQ(acknowledged(), 0U);
  EXPECT_EQ(lan_all(cut(frame_of(segment(0), std::string(1000, 'x')))), Verdict::kConsumed);
  EXPECT_EQ(acknowledged(), 1000U);
}

TEST_F(Fragments, OfWhatIsNotRelayedAreBridgedAsTheyCame) {
  wire::EthernetHeader tagged = host_to_server();
  tagged.tags[0] = {0x8100, 0x6007};
  tagged.tag_count = 1;
  wire::TcpHeader tcp = syn();
  tcp.flags = wire::TcpFlags::kAck;
  tcp.options = {};
  const std::vector<FrameBytes> frames = {
      stranger(), stranger(kClientV6, kServerV6),
      tcp_frame(kClient, kServer, tcp, tagged, std::string(900, 't'))};
  for (const FrameBytes& frame : frames) {
    for (const bool reversed : {false, true}) {
      auto fragments = cut(frame);
      if (reversed) std::ranges::reverse(fragments);
      EXPECT_EQ(lan_all(fragments), Verdict::kConsumed);
      EXPECT_EQ(bridged(), fragments);
      EXPECT_TRUE(bridged().empty()) << "once";
    }
  }
  EXPECT_EQ(count(Counter::kBridgedFragment), 18U);
  EXPECT_EQ(count(Counter::kDatagramsReassembled), 6U);
}

TEST_F(Fragments, WhatIsNoTcpIsBridgedAtOnce) {
  for (const FrameBytes& frame : cut(udp())) EXPECT_EQ(lan(frame), Verdict::kBridge);
  wire::IpHeader ip;
  ip.source = ip_of(kClientV6);
  ip.destination = ip_of(kServerV6);
  ip.protocol = wire::kProtocolUdp;
  const FrameBytes v6 = ip_frame(host_to_server(), ip, FrameBytes(1000));
  for (const FrameBytes& frame : cut(v6)) EXPECT_EQ(lan(frame), Verdict::kBridge);
  EXPECT_EQ(count(Counter::kBridgedFragment), 6U);
  // Behind Destination Options, the protocol is unknown until the packet is whole.
  const auto hidden = cut(with_extension_header(v6, kDestinationOptions));
  EXPECT_EQ(lan_all(hidden), Verdict::kConsumed);
  std::vector<FrameBytes> seen;
  while (auto frame = next_frame(PortId::kWan)) {
    if (!look_at(*frame).ip.source.is_v4()) seen.push_back(*frame);
  }
  EXPECT_EQ(seen, hidden);
}

TEST_F(Fragments, WaitForTheirTurnAsOtherFramesDo) {
  // Fills the link, so that frames have to wait.
  while (lan(udp()) == Verdict::kBridge) {
  }
  const std::size_t held = a_->held_frames();
  const auto fragments = cut(stranger());
  EXPECT_EQ(lan_all(fragments), Verdict::kConsumed);
  EXPECT_EQ(a_->held_frames(), held) << "the host keeps none of these";
  EXPECT_TRUE(bridged().empty());
  std::vector<FrameBytes> seen;
  FrameBytes out(a_->max_frame_size());
  for (int i = 0; i < 100; ++i) {
    now_ += Duration::milliseconds(1);
    while (true) {
      const Polled polled = a_->poll_frame(PortId::kWan, out, now_);
      if (polled.kind == Polled::Kind::kNothing) break;
      if (polled.kind == Polled::Kind::kHeld) continue;
      FrameBytes frame(out.begin(), out.begin() + static_cast<std::ptrdiff_t>(polled.size));
      if (look_at(frame).ip.protocol == wire::kProtocolTcp) seen.push_back(frame);
    }
  }
  EXPECT_EQ(seen, fragments);
  EXPECT_EQ(a_->held_frames(), 0U);
}

TEST_F(Fragments, WhatComesBehindThemDoesNotOvertake) {
  EXPECT_EQ(lan_all(cut(stranger())), Verdict::kConsumed);
  EXPECT_LE(a_->next_timeout(), now_);
  EXPECT_EQ(lan(stranger()), Verdict::kQueued);
  EXPECT_EQ(bridged().size(), 3U);
  EXPECT_EQ(lan(udp()), Verdict::kBridge);
}

TEST_F(Fragments, NoRuleIsEvadedByThem) {
  config::Rule rule;
  rule.action = Action::kDrop;
  rule.match.port = {{23, 23}};
  rule.match.protocol = {wire::kProtocolTcp};
  set_rules({rule, {}});
  const auto no = [&](const std::vector<FrameBytes>& fragments) {
    for (const FrameBytes& fragment : fragments) EXPECT_NE(lan(fragment), Verdict::kBridge);
    EXPECT_TRUE(bridged().empty());
  };
  for (const std::size_t size : {8U, 16U}) {
    no(cut(tcp_frame(kClient, kServer, syn(40000, 23)), size));
    no(cut(tcp_frame(kClientV6, kServerV6, syn(40000, 23)), size));
    no(cut(
        with_extension_header(tcp_frame(kClientV6, kServerV6, syn(40000, 23)), kDestinationOptions),
        size));
  }
  EXPECT_EQ(count(Counter::kDroppedByRule), 6U);
  EXPECT_EQ(count(Counter::kFlowsAccepted), 0U);
  // A later or an earlier fragment overwrites the port.
  auto good = cut(stranger());
  auto evil = good;
  store_u16(evil[0].data() + 14 + 20 + 2, 23);
  no({good[0], evil[0], good[1], good[2]});
  good = cut(stranger(), 400, 8);
  evil = cut(stranger(), 400, 8);
  store_u16(evil[0].data() + 14 + 20 + 2, 23);
  no({good[1], evil[0], good[0], good[2]});
  EXPECT_EQ(count(Counter::kDroppedByRule), 6U);
}

TEST_F(Fragments, ASynSpeaksForNobodyBehindAPeer) {
  config_a_.peers[0].prefixes.push_back(*IpPrefix::parse("203.0.113.128/25"));
  restart();
  start_peer();
  const auto fragments = cut(tcp_frame("203.0.113.200", kServer, syn()), 8);
  EXPECT_EQ(lan_all(fragments), Verdict::kConsumed);
  EXPECT_EQ(bridged(), fragments);
  EXPECT_EQ(count(Counter::kFlowsAccepted), 0U);
}

TEST_F(Fragments, ASynInThemIsRelayed) {
  EXPECT_EQ(lan_all(cut(tcp_frame(kClient, kServer, syn()), 8)), Verdict::kConsumed);
  auto answer = hear();
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->acknowledgment, 1001U);
  EXPECT_EQ(lan_all(cut(tcp_frame(kClientV6, kServerV6, syn()), 8)), Verdict::kConsumed);
  answer = hear();
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->acknowledgment, 1001U);
  EXPECT_EQ(count(Counter::kFlowsAccepted), 2U);
  EXPECT_TRUE(bridged().empty());
}

// And so are all later segments of its connection, since the server has its SYN.
TEST_F(Fragments, ASynBehindExtensionHeadersIsBridged) {
  const FrameBytes plain = tcp_frame(kClientV6, kServerV6, syn());
  for (const std::uint8_t number : {kHopByHop, kRouting, kAtomic, kDestinationOptions}) {
    EXPECT_EQ(lan(with_extension_header(plain, number)), Verdict::kBridge) << int{number};
  }
  EXPECT_EQ(count(Counter::kBridgedIpExtension), 4U);
  EXPECT_EQ(lan(plain), Verdict::kBridge);
  EXPECT_EQ(count(Counter::kFlowsAccepted), 0U);
  const auto fragments = cut(
      with_extension_header(tcp_frame(kClientV6, kServerV6, syn(40001)), kDestinationOptions), 16);
  EXPECT_EQ(lan_all(fragments), Verdict::kConsumed);
  EXPECT_EQ(bridged(), fragments);
}

TEST_F(Fragments, ExtensionHeadersAreSteppedOver) {
  open(kClientV6, kServerV6);
  std::uint32_t sent = 0;
  for (const std::uint8_t number : {kHopByHop, kRouting, kAtomic, kDestinationOptions}) {
    const FrameBytes frame = frame_of(segment(sent), "hello");
    EXPECT_EQ(lan(with_extension_header(frame, number)), Verdict::kConsumed) << int{number};
    sent += 5;
    EXPECT_EQ(acknowledged(), sent) << int{number};
  }
  EXPECT_EQ(lan(with_extension_header(with_extension_header(frame_of(segment(sent), "hello"), 60),
                                      kHopByHop)),
            Verdict::kConsumed);
  EXPECT_EQ(acknowledged(), sent + 5);
  EXPECT_EQ(heard_ ? look_at(*heard_).kind : FrameKind::kTcp, FrameKind::kTcp) << "none come back";
}

// The packet goes on to another host than that of the connection.
TEST_F(Fragments, ASegmentThatGoesOnElsewhereIsNotOfTheConnection) {
  open(kClientV6, kServerV6);
  FrameBytes routed = with_extension_header(frame_of(segment(0), "hello"), kRouting);
  routed[wire::kEthernetHeaderSize + wire::kIpv6HeaderSize + 3] = std::byte{1};
  EXPECT_EQ(lan(routed), Verdict::kBridge);
  EXPECT_EQ(acknowledged(), 0U);
}

// A connection is opened by an ACK that brings back a cookie, even if its SYN had no extension
// headers.
TEST_F(Fragments, AnAckToACookieMayBeBehindThem) {
  for (std::uint16_t port = 1; port <= config_a_.limits.half_open / 2; ++port) {
    ASSERT_EQ(lan(tcp_frame(kClientV6, kServerV6, syn(port))), Verdict::kConsumed);
  }
  while (hear()) {
  }
  ASSERT_EQ(lan(tcp_frame(kClientV6, kServerV6, syn())), Verdict::kConsumed);
  const auto answer = hear();
  ASSERT_TRUE(answer);
  ASSERT_EQ(count(Counter::kSynCookiesSent), 1U);
  wire::TcpHeader ack = syn();
  ack.flags = wire::TcpFlags::kAck;
  ack.sequence = 1001;
  ack.acknowledgment = answer->sequence + 1;
  ack.options = {};
  EXPECT_EQ(lan(with_extension_header(tcp_frame(kClientV6, kServerV6, ack), kDestinationOptions)),
            Verdict::kConsumed);
  EXPECT_EQ(count(Counter::kFlowsBySynCookie), 1U);
}

TEST_F(Fragments, OneThatStaysAloneIsDroppedInTime) {
  EXPECT_EQ(lan(cut(stranger())[1]), Verdict::kConsumed);
  now_ += Reassembly::kTimeout;
  EXPECT_LE(a_->next_timeout(), now_);
  a_->handle_timeout(now_);
  EXPECT_EQ(count(Counter::kDroppedFragmentTimeout), 1U);
  EXPECT_TRUE(bridged().empty());
}

TEST_F(Fragments, AFragmentWithinFragmentsIsDropped) {
  const auto inner = cut(tcp_frame(kClientV6, kServerV6, syn()), 16);
  const FrameBytes nested = with_extension_header(inner[0], kDestinationOptions);
  for (const FrameBytes& fragment : cut(nested, 16)) EXPECT_NE(lan(fragment), Verdict::kBridge);
  EXPECT_EQ(count(Counter::kDroppedFragmentMalformed), 1U);
  EXPECT_TRUE(bridged().empty());
}

// The far gateway has bridged fragments of a relayed connection, as it does not know the
// connection.
TEST_F(Fragments, FromTheWanPassButTheFirstOfARelayedConnection) {
  open(kClientV6, kServerV6);
  wire::TcpHeader back = segment(0);
  std::swap(back.source_port, back.destination_port);
  const auto theirs =
      cut(tcp_frame(kServerV6, kClientV6, back, host_to_server(), std::string(1000, 'x')));
  EXPECT_EQ(wan(theirs[0]), Verdict::kDrop);
  EXPECT_EQ(wan(theirs[1]), Verdict::kBridge);
  EXPECT_EQ(wan(theirs[2]), Verdict::kBridge);
  EXPECT_EQ(count(Counter::kDroppedFragmentOfRelayed), 1U);
  for (const FrameBytes& each : cut(stranger(kServer, kClient))) {
    EXPECT_EQ(wan(each), Verdict::kBridge);
  }
  EXPECT_EQ(wan(with_extension_header(tcp_frame(kServerV6, kClientV6, back, host_to_server(), "x"),
                                      kDestinationOptions)),
            Verdict::kDrop);
  EXPECT_EQ(count(Counter::kDroppedRelayedFromWan), 1U);
}

}  // namespace
}  // namespace satrelay::gateway::fragments_test
