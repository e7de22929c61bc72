// Rules apply to headers behind extension headers. If a header cannot be seen, it is taken for one
// that a rule forbids.
#include <gtest/gtest.h>

#include <initializer_list>

#include "pep/wire/extension_headers.h"
#include "pep/wire/icmp.h"
#include "tests/unit/relay/gateway/relayed_fixture.h"

namespace satrelay::gateway::hidden_transport_test {
namespace {

using config::Action;

constexpr std::uint8_t kDestinationOptions = 60, kFragment = 44;

config::Rule rule_of(Action action, config::Match match = {}) {
  config::Rule rule;
  rule.action = action;
  rule.match = std::move(match);
  return rule;
}

config::Match tcp_to_port(std::uint16_t port) {
  config::Match match;
  match.port = {{port, port}};
  match.protocol = {wire::kProtocolTcp};
  return match;
}

// An extension header with padding only. `next` follows.
FrameBytes empty_header(std::uint8_t next) {
  FrameBytes header(8);
  header[0] = std::byte{next};
  header[2] = std::byte{1};
  header[3] = std::byte{4};
  return header;
}

FrameBytes fragment_header(std::uint8_t next, std::uint16_t offset, bool more) {
  FrameBytes header(8);
  header[0] = std::byte{next};
  store_u16(header.data() + 2, static_cast<std::uint16_t>(offset | (more ? 1 : 0)));
  header[7] = std::byte{9};
  return header;
}

FrameBytes joined(std::initializer_list<FrameBytes> parts) {
  FrameBytes all;
  for (const FrameBytes& part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

FrameBytes v6_frame(std::uint8_t first, const FrameBytes& payload) {
  wire::IpHeader ip;
  ip.source = ip_of(kClientV6);
  ip.destination = ip_of(kServerV6);
  ip.protocol = first;
  return ip_frame(host_to_server(), ip, payload);
}

// A SYN of kClientV6, without the headers before TCP.
FrameBytes syn_segment(std::uint16_t port) {
  wire::TcpHeader tcp;
  tcp.source_port = 40000;
  tcp.destination_port = port;
  tcp.sequence = 1000;
  tcp.flags = wire::TcpFlags::kSyn;
  tcp.window = 64240;
  const FrameBytes frame = tcp_frame(kClientV6, kServerV6, tcp);
  return {frame.begin() + wire::kEthernetHeaderSize + wire::kIpv6HeaderSize, frame.end()};
}

class HiddenTransport : public RelayedTest {
 protected:
  void set_rules(std::vector<config::Rule> rules) {
    config_a_.rules = std::move(rules);
    a_->reconfigure(config_a_, now_);
  }
  void SetUp() override {
    RelayedTest::SetUp();
    set_rules({rule_of(Action::kDrop, tcp_to_port(23)), rule_of(Action::kAccelerate)});
  }
};

TEST_F(HiddenTransport, RulesHoldBehindExtensionHeaders) {
  for (const std::uint8_t header : {std::uint8_t{0}, std::uint8_t{43}, kDestinationOptions}) {
    const auto behind = [&](std::uint16_t port) {
      return v6_frame(header, joined({empty_header(wire::kProtocolTcp), syn_segment(port)}));
    };
    EXPECT_EQ(lan(behind(23)), Verdict::kDrop) << int{header};
    EXPECT_EQ(lan(behind(80)), Verdict::kBridge) << int{header};
  }
  EXPECT_EQ(count(Counter::kDroppedByRule), 3U);
  EXPECT_EQ(count(Counter::kBridgedIpExtension), 3U);
}

TEST_F(HiddenTransport, ResetAnswersThemToo) {
  set_rules({rule_of(Action::kReset, tcp_to_port(23))});
  EXPECT_EQ(lan(v6_frame(kDestinationOptions,
                         joined({empty_header(wire::kProtocolTcp), syn_segment(23)}))),
            Verdict::kDrop);
  const auto answer = hear();
  ASSERT_TRUE(answer);
  EXPECT_TRUE(answer->has(wire::TcpFlags::kRst));
  EXPECT_EQ(answer->acknowledgment, 1001U);
}

// fragments_test.cc tests other fragments, which are judged as a whole.
TEST_F(HiddenTransport, AnAtomicFragmentIsJudged) {
  const auto atomic = [](std::uint16_t port) {
    return joined({fragment_header(wire::kProtocolTcp, 0, false), syn_segment(port)});
  };
  EXPECT_EQ(lan(v6_frame(kFragment, atomic(23))), Verdict::kDrop);
  EXPECT_EQ(lan(v6_frame(kFragment, atomic(80))), Verdict::kBridge);
}

TEST_F(HiddenTransport, WhatCannotBeSeenIsTakenForWhatIsForbidden) {
  // A header that is longer than the packet, and too many headers.
  FrameBytes beyond = joined({empty_header(wire::kProtocolTcp), syn_segment(23)});
  beyond[1] = std::byte{200};
  FrameBytes many;
  for (std::size_t i = 0; i < wire::kMostExtensionHeaders; ++i) {
    many = joined({many, empty_header(kDestinationOptions)});
  }
  many = joined({many, empty_header(wire::kProtocolTcp), syn_segment(23)});
  // The packet ends before the ports.
  const FrameBytes tiny = joined({empty_header(wire::kProtocolTcp), FrameBytes(2)});
  const std::vector<FrameBytes> hidden = {v6_frame(kDestinationOptions, beyond),
                                          v6_frame(kDestinationOptions, many),
                                          v6_frame(kDestinationOptions, tiny)};
  for (const FrameBytes& frame : hidden) EXPECT_EQ(lan(frame), Verdict::kDrop);
  // A rule without a criterion for the hidden part comes first.
  config::Match client;
  client.source = {*IpPrefix::parse("2001:db8:a::/64")};
  set_rules({rule_of(Action::kBridge, client), rule_of(Action::kDrop, tcp_to_port(23))});
  for (const FrameBytes& frame : hidden) EXPECT_EQ(lan(frame), Verdict::kBridge);
  // A rule that passes packets does not apply if only the hidden part could match it.
  set_rules({rule_of(Action::kBridge, tcp_to_port(80)), rule_of(Action::kDrop, tcp_to_port(23))});
  for (const FrameBytes& frame : hidden) EXPECT_EQ(lan(frame), Verdict::kDrop);
  set_rules({rule_of(Action::kAccelerate)});
  for (const FrameBytes& frame : hidden) EXPECT_EQ(lan(frame), Verdict::kBridge);
}

TEST_F(HiddenTransport, ARuleMayNameAnyOfTheHeaders) {
  config::Match options;
  options.protocol = {kDestinationOptions};
  set_rules({rule_of(Action::kDrop, options)});
  const FrameBytes both = joined(
      {empty_header(kDestinationOptions), empty_header(wire::kProtocolTcp), syn_segment(80)});
  EXPECT_EQ(lan(v6_frame(0, both)), Verdict::kDrop);
  EXPECT_EQ(lan(v6_frame(0, joined({empty_header(wire::kProtocolTcp), syn_segment(80)}))),
            Verdict::kBridge);
}

// Hosts accept a SYN with options that they cannot read to the end.
TEST_F(HiddenTransport, RulesHoldForOptionsThatWeCannotRead) {
  wire::TcpHeader tcp = syn(40000, 23);
  FrameBytes frame = tcp_frame(kClient, kServer, tcp);
  const std::size_t options = wire::kEthernetHeaderSize + wire::kIpv4HeaderSize + 20;
  frame[options + 1] = std::byte{0};  // a length of 0
  EXPECT_EQ(lan(frame), Verdict::kDrop);
  EXPECT_EQ(count(Counter::kDroppedByRule), 1U);
}

TEST_F(HiddenTransport, SegmentsOfARelayedConnectionAreTakenFromBehindThem) {
  open(kClientV6, kServerV6);
  const FrameBytes plain = frame_of(segment(0), "hello");
  const FrameBytes tcp(plain.begin() + wire::kEthernetHeaderSize + wire::kIpv6HeaderSize,
                       plain.end());
  const FrameBytes chain =
      joined({empty_header(kFragment), fragment_header(kDestinationOptions, 0, false),
              empty_header(wire::kProtocolTcp), tcp});
  EXPECT_EQ(lan(v6_frame(0, chain)), Verdict::kConsumed);
  EXPECT_EQ(acknowledged(), 5U);
  EXPECT_EQ(count(Counter::kBridgedIpExtension), 0U);
}

TEST_F(HiddenTransport, NobodySpeaksForAGatewayFromBehindThem) {
  config_a_.gateway.own = ip_of("2001:db8::1");
  config_a_.gateway.address = *IpPrefix::parse("2001:db8::/64");
  config_a_.peers[0].address = ip_of("2001:db8::2");
  restart();
  wire::IpHeader ip;
  ip.source = ip_of("fe80::1");
  ip.destination = ip_of("ff02::1");
  ip.hop_limit = 255;
  ip.protocol = kDestinationOptions;
  FrameBytes body(16);
  std::ranges::copy(std::as_bytes(std::span(config_a_.peers[0].address.octets())), body.begin());
  FrameBytes message(wire::kIcmpHeaderSize + body.size());
  wire::write_icmp(ip, {.type = wire::kIcmpV6NeighbourAdvertisement, .body = body}, message);
  EXPECT_EQ(
      lan(ip_frame(host_to_server(), ip, joined({empty_header(wire::kProtocolIcmpV6), message}))),
      Verdict::kDrop);
  EXPECT_EQ(count(Counter::kDroppedForgedGateway), 1U);
}

}  // namespace
}  // namespace satrelay::gateway::hidden_transport_test
