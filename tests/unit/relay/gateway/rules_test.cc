// How each action of a rule treats packets, which counters show it, and what changes at run time.
#include <gtest/gtest.h>

#include "config/model/traffic_class.h"
#include "relay/gateway/frames/frame.h"
#include "tests/unit/relay/gateway/gateway_fixture.h"
#include "tests/unit/relay/gateway/tunnel_frames.h"

namespace satrelay::gateway::rules_test {
namespace {

using config::Action;
using config::Direction;

config::Rule rule_of(Action action, config::Match match = {}) {
  config::Rule rule;
  rule.action = action;
  rule.match = std::move(match);
  return rule;
}

config::Match to_port(std::uint16_t port) {
  config::Match match;
  match.port = {{port, port}};
  return match;
}

class Rules : public GatewayTest {
 protected:
  void set_rules(std::vector<config::Rule> rules) {
    config_a_.rules = std::move(rules);
    a_->reconfigure(config_a_, now_);
  }
  RuleSnapshot rule(std::size_t number) const { return a_->rules(number - 1, 1).at(0); }
  std::optional<wire::TcpHeader> answer(PortId port) {
    const auto bytes = next_frame(port);
    if (!bytes) return std::nullopt;
    const auto tcp = wire::parse_tcp(look_at(*bytes).payload);
    return tcp ? std::optional(tcp->header) : std::nullopt;
  }
  // The next TCP frame on the WAN. Frames of STP are skipped.
  std::optional<wire::TcpHeader> tcp_on_the_wan() {
    while (const auto bytes = next_frame(PortId::kWan)) {
      const Frame frame = look_at(*bytes);
      if (frame.kind == FrameKind::kTcp) return wire::parse_tcp(frame.payload)->header;
    }
    return std::nullopt;
  }
};

wire::TcpHeader segment(std::uint8_t flags) {
  wire::TcpHeader tcp;
  tcp.source_port = 40000;
  tcp.destination_port = 80;
  tcp.sequence = 5000;
  tcp.acknowledgment = 7000;
  tcp.flags = flags;
  return tcp;
}

// The operator sees which connections are not accelerated.
TEST_F(Rules, ConnectionsThatAreBridgedAreNotedWithTheirReason) {
  start_peer();
  config::Rule ssh = rule_of(Action::kBridge, to_port(22));
  ssh.name = "ssh";
  set_rules({ssh, rule_of(Action::kDrop, to_port(23)), rule_of(Action::kAccelerate)});
  lan(tcp_frame(kClient, kServer, syn(40000, 22)));
  lan(tcp_frame(kClient, kServer, syn(40001, 22)));
  now_ += Duration::seconds(3);
  lan(tcp_frame(kClient, kServer, syn(40001, 22)));
  now_ += Duration::seconds(2);
  lan(tcp_frame(kClient, "192.0.2.77", syn(40002)));
  lan(tcp_frame(kClient, kServer, segment(wire::TcpFlags::kAck)));  // an old connection
  lan(tcp_frame(kClient, kServer, syn(40003, 23)));                 // dropped
  lan(tcp_frame(kClient, kServer, syn(40004)));                     // relayed
  const auto bridged = a_->bridged(now_);
  ASSERT_EQ(bridged.size(), 3U);
  EXPECT_EQ(bridged[0].server, ip_of("192.0.2.77"));
  EXPECT_EQ(bridged[0].server_port, 80);
  EXPECT_EQ(bridged[0].reason, Counter::kBridgedNoPeerPrefix);
  EXPECT_EQ(bridged[0].rule, 3U);
  EXPECT_EQ(bridged[1].client, ip_of(kClient));
  EXPECT_EQ(bridged[1].client_port, 40001);
  EXPECT_EQ(bridged[1].reason, Counter::kBridgedByRule);
  EXPECT_EQ(bridged[1].rule_name, "ssh");
  EXPECT_EQ(bridged[1].age, Duration::seconds(2));
  EXPECT_EQ(bridged[1].syns, 2U);
  EXPECT_EQ(bridged[2].client_port, 40000);
}

// Each frame counts, so that the histogram shows how long most frames wait.
TEST_F(Rules, FramesThatLeaveAtOnceHaveWaitedForNothing) {
  start_peer();
  for (int i = 0; i < 3; ++i) lan(tcp_frame(kClient, kServer, syn(40000, 22)));
  std::size_t of_bridged = 0;
  for (const HistogramSnapshot& each : a_->histograms()) {
    if (each.of != "bridged") continue;
    ++of_bridged;
    EXPECT_EQ(each.field, &kBridgedWait) << "nothing is relayed in that class";
    EXPECT_EQ(each.values.count(), 3U);
    EXPECT_EQ(each.values.sum(), 0U);
  }
  EXPECT_EQ(of_bridged, 1U);
}

TEST_F(Rules, DropTakesEveryPacketThatMatches) {
  start_peer();
  config::Match far;
  far.destination = {*IpPrefix::parse("198.51.100.0/24")};
  set_rules({rule_of(Action::kDrop, far), rule_of(Action::kAccelerate)});
  EXPECT_EQ(lan(tcp_frame(kClient, kServer, syn())), Verdict::kDrop);
  EXPECT_EQ(lan(tcp_frame(kClient, kServer, segment(wire::TcpFlags::kAck))), Verdict::kDrop);
  EXPECT_EQ(lan(udp_frame(kClient, kServer, 53, FrameBytes(8))), Verdict::kDrop);
  EXPECT_EQ(lan(udp_frame(kClient, "198.51.101.1", 53, FrameBytes(8))), Verdict::kBridge);
  EXPECT_FALSE(next_frame(PortId::kLan));
  EXPECT_EQ(count(Counter::kDroppedByRule), 3U);
  EXPECT_EQ(rule(1).use.dropped_frames, 3U);
  EXPECT_EQ(rule(2).use.dropped_frames, 0U);
}

TEST_F(Rules, ResetAnswersASynAsIfNobodyListened) {
  start_peer();
  set_rules({rule_of(Action::kReset, to_port(80)), rule_of(Action::kAccelerate)});
  EXPECT_EQ(lan(tcp_frame(kClient, kServer, syn(), host_to_server(), "hello")), Verdict::kDrop);
  const auto bytes = next_frame(PortId::kLan);
  ASSERT_TRUE(bytes);
  const Frame frame = look_at(*bytes);
  EXPECT_EQ(frame.ethernet.destination, kHostMac);
  EXPECT_EQ(frame.ethernet.source, kServerMac);
  EXPECT_EQ(frame.ip.source, ip_of(kServer));
  EXPECT_EQ(frame.ip.destination, ip_of(kClient));
  const wire::TcpHeader tcp = wire::parse_tcp(frame.payload)->header;
  EXPECT_EQ(tcp.source_port, 80);
  EXPECT_EQ(tcp.destination_port, 40000);
  EXPECT_EQ(tcp.flags, wire::TcpFlags::kRst | wire::TcpFlags::kAck);
  EXPECT_EQ(tcp.sequence, 0U);
  EXPECT_EQ(tcp.acknowledgment, syn().sequence + 5 + 1);  // acknowledges the data and the SYN
  EXPECT_EQ(rule(1).use.dropped_frames, 1U);
}

TEST_F(Rules, ResetSpeaksWithTheNumberThatTheHostExpects) {
  set_rules({rule_of(Action::kReset)});
  lan(tcp_frame(kClient, kServer, segment(wire::TcpFlags::kAck), host_to_server(), "data"));
  const auto reset = answer(PortId::kLan);
  ASSERT_TRUE(reset);
  EXPECT_EQ(reset->flags, wire::TcpFlags::kRst);
  EXPECT_EQ(reset->sequence, 7000U);
  lan(tcp_frame(kClient, kServer, segment(wire::TcpFlags::kRst)));
  EXPECT_FALSE(answer(PortId::kLan));  // a reset never draws a reset
  EXPECT_EQ(lan(udp_frame(kClient, kServer, 53, FrameBytes(8))), Verdict::kDrop);
  EXPECT_FALSE(next_frame(PortId::kLan));
}

TEST_F(Rules, ResetDoesNotAnswerWhatWasForMany) {
  set_rules({rule_of(Action::kReset)});
  EXPECT_EQ(lan(tcp_frame(kClient, "224.0.0.1", syn())), Verdict::kDrop);
  wire::EthernetHeader broadcast = host_to_server();
  broadcast.destination = MacAddress::broadcast();
  EXPECT_EQ(lan(tcp_frame(kClient, kServer, syn(), broadcast)), Verdict::kDrop);
  EXPECT_FALSE(next_frame(PortId::kLan));
}

TEST_F(Rules, ResetDoesNotAnswerWhatIsDamaged) {
  set_rules({rule_of(Action::kReset)});
  FrameBytes damaged = tcp_frame(kClient, kServer, syn());
  damaged.back() ^= std::byte{1};
  EXPECT_EQ(lan(damaged), Verdict::kDrop);
  EXPECT_FALSE(next_frame(PortId::kLan));
}

TEST_F(Rules, AFloodIsAnsweredByABurstAtMost) {
  set_rules({rule_of(Action::kReset)});
  for (std::uint16_t port = 1; port <= 1000; ++port) {
    lan(tcp_frame(kClient, kServer, syn(port)));
  }
  int answers = 0;
  while (answer(PortId::kLan)) ++answers;
  EXPECT_EQ(answers, 64);
  EXPECT_EQ(count(Counter::kDroppedByRule), 1000U);
}

TEST_F(Rules, InboundRulesHoldForWhatComesRawFromTheWan) {
  config::Match inbound = to_port(80);
  inbound.direction = Direction::kInbound;
  set_rules({rule_of(Action::kReset, inbound), rule_of(Action::kBridge)});
  EXPECT_EQ(lan(tcp_frame(kClient, kServer, syn())), Verdict::kBridge);
  EXPECT_EQ(wan(tcp_frame(kServer, kClient, syn())), Verdict::kDrop);
  const auto reset = tcp_on_the_wan();
  ASSERT_TRUE(reset);
  EXPECT_EQ(reset->flags, wire::TcpFlags::kRst | wire::TcpFlags::kAck);
  EXPECT_EQ(reset->destination_port, 40000);
  EXPECT_EQ(rule(1).use.dropped_frames, 1U);
  EXPECT_EQ(rule(2).use.bridged_frames, 1U);
}

TEST_F(Rules, AConnectionThatAPeerOpensIsRefused) {
  config_b_.rules = {rule_of(Action::kDrop, to_port(80)), rule_of(Action::kAccelerate)};
  config_a_.rules.clear();
  a_->reconfigure(config_a_, now_);
  start_peer();
  ASSERT_EQ(lan(tcp_frame(kClient, kServer, syn())), Verdict::kConsumed);
  const auto synack = answer(PortId::kLan);
  ASSERT_TRUE(synack);
  wire::TcpHeader ack = segment(wire::TcpFlags::kAck);
  ack.sequence = syn().sequence + 1;
  ack.acknowledgment = synack->sequence + 1;
  lan(tcp_frame(kClient, kServer, ack));
  for (int i = 0; i < 3; ++i) step();
  EXPECT_EQ(b_->counters()[Counter::kFlowsRefusedByRule], 1U);
  EXPECT_EQ(b_->flow_count(), 0U);
  EXPECT_EQ(b_->rules(0, 1).at(0).use.connections, 1U);
  const auto reset = answer(PortId::kLan);
  ASSERT_TRUE(reset);
  EXPECT_TRUE(reset->has(wire::TcpFlags::kRst));
  EXPECT_EQ(count(Counter::kFlowsRefused), 1U);
}

TEST_F(Rules, VlanAndDscpAreLookedAt) {
  config::Match voice;
  voice.vlan = {100};
  voice.dscp = {46};
  set_rules({rule_of(Action::kDrop, voice), rule_of(Action::kBridge)});
  wire::EthernetHeader tagged = host_to_server();
  tagged.tags[0] = {.tpid = 0x8100, .tci = 100};
  tagged.tag_count = 1;
  wire::IpHeader ip;
  ip.source = ip_of(kClient);
  ip.destination = ip_of(kServer);
  ip.protocol = wire::kProtocolUdp;
  EXPECT_EQ(lan(ip_frame(tagged, ip, FrameBytes(16))), Verdict::kBridge);
  ip.traffic_class = 46 << 2;
  EXPECT_EQ(lan(ip_frame(tagged, ip, FrameBytes(16))), Verdict::kDrop);
  EXPECT_EQ(lan(ip_frame(host_to_server(), ip, FrameBytes(16))), Verdict::kBridge);
}

// A rule against all packets must not take the network itself down.
TEST_F(Rules, NeighbourDiscoveryAndWhatIsNotIpPass) {
  set_rules({rule_of(Action::kDrop)});
  wire::IpHeader ip;
  ip.source = ip_of("fe80::1");
  ip.destination = ip_of("ff02::1:ff00:5");
  ip.protocol = wire::kProtocolIcmpV6;
  FrameBytes solicitation(24);
  solicitation[0] = std::byte{135};
  EXPECT_EQ(lan(ip_frame(host_to_server(), ip, solicitation)), Verdict::kBridge);
  EXPECT_EQ(wan(ip_frame(host_to_server(), ip, solicitation)), Verdict::kBridge);
  FrameBytes echo(24);
  echo[0] = std::byte{128};
  EXPECT_EQ(lan(ip_frame(host_to_server(), ip, echo)), Verdict::kDrop);
  FrameBytes lldp(60);
  wire::EthernetHeader ethernet = host_to_server();
  ethernet.type = static_cast<wire::EtherType>(0x88cc);
  wire::write_ethernet(ethernet, lldp);
  EXPECT_EQ(lan(lldp), Verdict::kBridge);
}

// A tunnel is no way around a rule, from either side. A packet in a tunnel draws no RST, as the RST
// would have to go back through the tunnel.
TEST_F(Rules, WhatPppoeAndMplsCarryIsClassified) {
  const FrameBytes allowed = udp_frame(kClient, kServer, 53, FrameBytes(20));
  const FrameBytes barred = udp_frame(kClient, kServer, 54, FrameBytes(20));
  const FrameBytes reset = tcp_frame(kClient, kServer, syn(40'000, 25));
  set_rules({rule_of(Action::kDrop, to_port(54)), rule_of(Action::kReset, to_port(25)),
             rule_of(Action::kAccelerate)});
  for (const bool mpls : {false, true}) {
    const auto carried = [&](const FrameBytes& plain) {
      return mpls ? mpls_frame({16, 17}, plain) : pppoe_frame(7, 0x21, packet_of(plain));
    };
    EXPECT_EQ(lan(carried(allowed)), Verdict::kBridge);
    EXPECT_EQ(lan(carried(barred)), Verdict::kDrop);
    EXPECT_EQ(lan(carried(reset)), Verdict::kDrop);
    EXPECT_EQ(wan(carried(barred)), Verdict::kDrop);
    EXPECT_EQ(wan(carried(allowed)), Verdict::kBridge);
  }
  EXPECT_FALSE(next_frame(PortId::kLan)) << "no RST";
  EXPECT_EQ(count(Counter::kBridgedEncapsulated), 2U);
  EXPECT_EQ(count(Counter::kDroppedByRule), 6U);
  EXPECT_EQ(count(Counter::kFlowsAccepted), 0U);
  const auto all = a_->rules(0, 10);
  EXPECT_EQ(all[0].use.dropped_frames, 4U);
  EXPECT_EQ(all[1].use.dropped_frames, 2U);
  EXPECT_EQ(all[2].use.bridged_frames, 4U);
}

TEST_F(Rules, WhatOnlyLooksLikeIpUnderLabelsIsNot) {
  set_rules({rule_of(Action::kDrop)});
  FrameBytes frame = mpls_frame({16}, udp_frame(kClient, kServer, 53, FrameBytes(20)));
  EXPECT_EQ(lan(frame), Verdict::kDrop);
  frame[wire::kEthernetHeaderSize + 4 + 10] ^= std::byte{1};  // its checksum
  EXPECT_EQ(lan(frame), Verdict::kBridge);
  EXPECT_EQ(lan(pppoe_frame(7, 0xc021, FrameBytes(10))), Verdict::kBridge) << "LCP";
}

// RSTs towards the WAN have a budget of 1% of 50 Mbit/s. A flood draws no more.
TEST_F(Rules, ResetsTowardsTheWanHaveABudget) {
  set_rules({rule_of(Action::kReset)});
  int sent = 0;
  for (int ms = 0; ms < 1'000; ++ms) {
    now_ += Duration::milliseconds(1);
    for (std::uint16_t i = 0; i < 20; ++i) wan(tcp_frame("192.0.2.77", kClient, syn(i, 80)));
    while (const auto frame = next_frame(PortId::kWan)) {
      if (look_at(*frame).kind == FrameKind::kTcp) ++sent;
    }
  }
  EXPECT_GT(sent, 100);
  EXPECT_LE(sent * 78 * 8, 500'000 * 1.13);
  EXPECT_GT(count(Counter::kResetsOverBudget), 10'000U);
}

TEST_F(Rules, CountConnectionsAndBridgedBytes) {
  start_peer();
  set_rules({rule_of(Action::kBridge, to_port(22)), rule_of(Action::kAccelerate, to_port(80))});
  const FrameBytes ssh = tcp_frame(kClient, kServer, syn(40000, 22));
  lan(ssh);
  lan(ssh);  // a repetition is no new connection
  lan(tcp_frame(kClient, kServer, syn(40001, 80)));
  lan(tcp_frame(kClient, kServer, syn(40002, 80)));
  const FrameBytes other = udp_frame(kClient, kServer, 53, FrameBytes(8));
  lan(other);
  const auto all = a_->rules(0, 10);
  ASSERT_EQ(all.size(), 3U);
  EXPECT_EQ(all[0].use.connections, 1U);
  EXPECT_EQ(all[0].use.bridged_frames, 2U);
  EXPECT_EQ(all[0].use.bridged_bytes, 2 * ssh.size());
  EXPECT_EQ(all[1].use.connections, 2U);
  EXPECT_EQ(all[1].use.bridged_frames, 0U);
  EXPECT_EQ(all[2].number, 0U);  // packets without a rule
  EXPECT_EQ(all[2].use.bridged_bytes, other.size());
}

TEST_F(Rules, AReloadLeavesTheGatewaysOwnSegmentAlone) {
  config_a_.peers[0].prefixes = {*IpPrefix::parse("0.0.0.0/0")};
  a_ = std::make_unique<Gateway>(
      config_a_, Identity{.boot_epoch = 2, .secret = {1, 2}, .wan_mac = kGatewayMac}, memory_a_,
      now_);
  start_peer();
  lan(tcp_frame(kClient, "192.0.2.3", syn()));
  EXPECT_EQ(count(Counter::kBridgedOwnSegment), 1U);
  a_->reconfigure(config_a_, now_);
  lan(tcp_frame(kClient, "192.0.2.3", syn(40001)));
  EXPECT_EQ(count(Counter::kBridgedOwnSegment), 2U);
}

TEST_F(Rules, FunctionsAreSetUntilTheNextReload) {
  using Result = Gateway::SetResult;
  config::Rule web = rule_of(Action::kAccelerate, to_port(80));
  web.name = "web";
  set_rules({web, rule_of(Action::kBridge)});
  EXPECT_EQ(a_->set_rule("web", {.compress = config::Compress::kOff}), Result::kSet);
  EXPECT_EQ(a_->set_rule("1", {.handshake = config::HandshakeMode::kRemote,
                               .ack = config::AckMode::kEndToEnd}),
            Result::kSet);
  EXPECT_EQ(rule(1).compress, config::Compress::kOff);
  EXPECT_EQ(rule(1).modes.ack, config::AckMode::kEndToEnd);
  EXPECT_TRUE(rule(1).is_changed);
  EXPECT_EQ(a_->set_rule("web", {.handshake = config::HandshakeMode::kLocal}),
            Result::kContradiction);
  EXPECT_EQ(rule(1).modes.handshake, config::HandshakeMode::kRemote);
  EXPECT_EQ(a_->set_rule("2", {.compress = config::Compress::kOff}), Result::kNotAccelerated);
  EXPECT_EQ(a_->set_rule("mail", {.compress = config::Compress::kOff}), Result::kUnknownRule);
  a_->reconfigure(config_a_, now_);
  EXPECT_FALSE(rule(1).is_changed);
  EXPECT_EQ(rule(1).compress, config::Compress::kAuto);
}

PolicyKey connection(std::uint16_t port) {
  PolicyKey key;
  key.source = ip_of(kClient);
  key.destination = ip_of(kServer);
  key.port = port;
  key.protocol = wire::kProtocolTcp;
  return key;
}

TEST_F(Rules, AreExplained) {
  config::Match voice;
  voice.protocol = {wire::kProtocolUdp};
  config::Match ship;
  ship.peer = {"peer"};
  set_rules({rule_of(Action::kBridge, to_port(22)), rule_of(Action::kDrop, voice),
             rule_of(Action::kAccelerate, ship)});
  Explanation why = a_->explain(connection(80), now_);
  EXPECT_EQ(why.rule, 3U);
  ASSERT_EQ(why.misses.size(), 2U);
  EXPECT_EQ(why.misses[0].criterion, Criterion::kPort);
  EXPECT_EQ(why.misses[1].criterion, Criterion::kProtocol);
  EXPECT_EQ(why.peer, "peer");
  EXPECT_EQ(why.prefix, IpPrefix::parse("198.51.100.0/24"));
  EXPECT_EQ(why.bridged_as, Counter::kBridgedPeerDown);
  start_peer();
  EXPECT_FALSE(a_->explain(connection(80), now_).bridged_as);
  EXPECT_EQ(a_->explain(connection(22), now_).bridged_as, Counter::kBridgedByRule);
  PolicyKey elsewhere = connection(80);
  elsewhere.destination = ip_of("203.0.113.77");
  why = a_->explain(elsewhere, now_);
  EXPECT_EQ(why.rule, 0U);
  EXPECT_EQ(why.misses.size(), 3U);
  EXPECT_EQ(why.misses[2].criterion, Criterion::kPeer);
  EXPECT_EQ(why.peer, "");
  EXPECT_EQ(why.bridged_as, Counter::kBridgedNoPeerPrefix);
}

// The explanation names the counter and the class that the frame then has.
TEST_F(Rules, APacketThatIsNotTcpIsExplainedAsItIsBridged) {
  config_a_.classes = {
      {.name = "bulk", .weight = 4, .maximum = BitRate::bits_per_second(5'000'000)}};
  config::Rule bulk = rule_of(Action::kAccelerate, to_port(53));
  bulk.traffic_class = "bulk";
  set_rules({bulk, rule_of(Action::kReset, to_port(80)), rule_of(Action::kAccelerate, {})});
  const auto explained = [&](std::uint8_t protocol, std::uint16_t port) {
    PolicyKey key = connection(port);
    key.protocol = protocol;
    return a_->explain(key, now_);
  };
  const Explanation dns = explained(wire::kProtocolUdp, 53);
  EXPECT_EQ(dns.rule, 1U);
  EXPECT_EQ(dns.outcome, Outcome::kBridged);
  EXPECT_TRUE(dns.is_for_tcp_only);
  EXPECT_EQ(dns.bridged_as, Counter::kBridgedNotTcp);
  ASSERT_TRUE(dns.bridged_turn);
  EXPECT_EQ(dns.bridged_turn->traffic_class, "bulk");
  EXPECT_EQ(dns.bridged_turn->turn, "bulk");
  EXPECT_EQ(dns.bridged_turn->weight, 4U);
  EXPECT_EQ(dns.bridged_turn->maximum, BitRate::bits_per_second(5'000'000));
  EXPECT_EQ(lan(udp_frame(kClient, kServer, 53, FrameBytes(8))), Verdict::kBridge);
  EXPECT_EQ(count(Counter::kBridgedNotTcp), 1U);
  EXPECT_EQ(a_->classes().at(0).use.bridged_frames, 1U) << "in the class of the explanation";
  const Explanation dropped = explained(wire::kProtocolUdp, 80);
  EXPECT_EQ(dropped.outcome, Outcome::kDropped);
  EXPECT_EQ(lan(udp_frame(kClient, kServer, 80, FrameBytes(8))), Verdict::kDrop);
  EXPECT_TRUE(dropped.is_for_tcp_only);
  EXPECT_FALSE(dropped.bridged_as);
  EXPECT_FALSE(dropped.bridged_turn);
  EXPECT_EQ(explained(wire::kProtocolTcp, 80).outcome, Outcome::kReset);
  const Explanation ping = explained(wire::kProtocolIcmp, 0);
  EXPECT_EQ(ping.rule, 3U);
  EXPECT_EQ(ping.bridged_as, Counter::kBridgedNotTcp);
  ASSERT_TRUE(ping.bridged_turn);
  EXPECT_EQ(ping.bridged_turn->traffic_class, config::kBridgedName);
  EXPECT_EQ(ping.bridged_turn->turn, config::kRelayedName) << "there is no bridged_share";
  PolicyKey back = connection(0);
  back.protocol = wire::kProtocolUdp;
  back.direction = config::Direction::kInbound;
  std::swap(back.source, back.destination);
  const Explanation inbound = a_->explain(back, now_);
  EXPECT_EQ(inbound.bridged_as, Counter::kBridgedFromWan);
  EXPECT_FALSE(inbound.bridged_turn) << "it leaves at once";
  const Explanation relayed = explained(wire::kProtocolTcp, 22);
  EXPECT_EQ(relayed.bridged_as, Counter::kBridgedPeerDown);
  EXPECT_TRUE(relayed.bridged_turn) << "bridged connections wait as well";
  start_peer();
  EXPECT_EQ(explained(wire::kProtocolTcp, 22).outcome, Outcome::kRelayed);
}

TEST_F(Rules, AnExplanationOfManyRulesIsShort) {
  set_rules(std::vector<config::Rule>(1000, rule_of(Action::kBridge, to_port(22))));
  const Explanation why = a_->explain(connection(80), now_);
  EXPECT_EQ(why.misses.size(), Explanation::kMostMisses);
  EXPECT_EQ(why.more_misses, 1000 - Explanation::kMostMisses);
}

}  // namespace
}  // namespace satrelay::gateway::rules_test
