// The verdict about each kind of frame (bridged, consumed or dropped) and its counter. Whole
// transfers are in tests/sim.
#include "relay/gateway/gateway.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "pep/wire/arp.h"
#include "pep/wire/icmp.h"
#include "tests/unit/relay/gateway/gateway_fixture.h"

namespace satrelay::gateway::gateway_test {
namespace {

TEST_F(GatewayTest, ShowsNoFigureThatWasNotMeasured) {
  const PeerSnapshot before = a_->peers()[0];
  EXPECT_EQ(before.rtt, std::nullopt);
  EXPECT_EQ(before.loss_ratio, std::nullopt);
  EXPECT_EQ(before.path_mtu, std::nullopt);
  start_peer();
  const PeerSnapshot after = a_->peers()[0];
  EXPECT_TRUE(after.path_mtu.has_value());
  EXPECT_EQ(after.loss_ratio, 0) << "the first packets have been reported on";
}

TEST_F(GatewayTest, BridgesWhatIsNotTcp) {
  EXPECT_EQ(lan(udp_frame(kClient, kServer, 53, FrameBytes(20))), Verdict::kBridge);
  EXPECT_EQ(count(Counter::kBridgedNotTcp), 1U);
  FrameBytes lldp(60);
  wire::EthernetHeader ethernet = host_to_server();
  ethernet.type = static_cast<wire::EtherType>(0x88cc);
  wire::write_ethernet(ethernet, lldp);
  EXPECT_EQ(lan(lldp), Verdict::kBridge);
  EXPECT_EQ(count(Counter::kBridgedNotIp), 1U);
  EXPECT_EQ(lan(FrameBytes(9)), Verdict::kBridge);
  EXPECT_EQ(count(Counter::kBridgedMalformed), 1U);
}

// At 50 Mbit/s, 16 full frames fit into the 4 ms that may leave at once. The other frames wait.
TEST_F(GatewayTest, HoldsBridgedFramesForWhichTheCarrierHasNoRoom) {
  const FrameBytes frame = udp_frame(kClient, kServer, 53, FrameBytes(1'400));
  int bridged = 0;
  while (lan(frame) == Verdict::kBridge && bridged < 100) ++bridged;
  EXPECT_NEAR(bridged, 17, 1);
  EXPECT_EQ(a_->held_frames(), 1U);
  EXPECT_EQ(count(Counter::kHeldFrames), 1U);
  // Behind a held frame, only frames that are not IP leave at once.
  EXPECT_EQ(lan(frame), Verdict::kQueued);
  FrameBytes lacp(60);
  wire::EthernetHeader ethernet = host_to_server();
  ethernet.type = static_cast<wire::EtherType>(0x8809);
  wire::write_ethernet(ethernet, lacp);
  EXPECT_EQ(lan(lacp), Verdict::kBridge);
  FrameBytes out(a_->max_frame_size());
  while (a_->poll_frame(PortId::kWan, out, now_).kind == Polled::Kind::kWritten) continue;
  EXPECT_EQ(a_->held_frames(), 2U);
  const std::uint64_t sent = count(Counter::kWanFramesOut);
  EXPECT_LE(a_->next_timeout(), now_ + Duration::milliseconds(1));
  now_ = a_->next_timeout() + Duration::milliseconds(1);
  EXPECT_EQ(a_->poll_frame(PortId::kWan, out, now_).kind, Polled::Kind::kHeld);
  EXPECT_EQ(a_->poll_frame(PortId::kWan, out, now_).kind, Polled::Kind::kHeld);
  EXPECT_EQ(a_->held_frames(), 0U);
  EXPECT_EQ(count(Counter::kWanFramesOut), sent + 2);
}

// More frames than a burst takes, with all kinds of verdicts, and ports that take only some frames
// at a time.
TEST_F(GatewayTest, ManyFramesAtOnceFareAsOneByOne) {
  FrameBytes lldp(60);
  wire::EthernetHeader ethernet = host_to_server();
  ethernet.type = static_cast<wire::EtherType>(0x88cc);
  wire::write_ethernet(ethernet, lldp);
  const FrameBytes datagram = udp_frame(kClient, kServer, 53, FrameBytes(1'400));
  const FrameBytes forged = udp_frame("192.0.2.1", kServer, 53, FrameBytes(100));
  std::vector<ConstBytes> frames;
  for (int i = 0; i < 80; ++i) {
    frames.push_back(i % 7 == 3 ? ConstBytes(lldp) : ConstBytes(datagram));
    if (i % 11 == 5) frames.push_back(forged);
  }
  Gateway single(config_a_, Identity{.boot_epoch = 1, .secret = {1, 2}, .wan_mac = kGatewayMac},
                 memory_b_, now_);
  std::vector<Gateway::Handled> handled(frames.size());
  std::vector<Gateway::Arrived> arrived(frames.size());
  std::vector<Frame> looks(frames.size());
  for (std::size_t i = 0; i < frames.size(); ++i) {
    arrived[i].bytes = frames[i];
    if (i % 2 == 0) continue;  // the caller has not parsed it
    looks[i] = look_at(frames[i]);
    arrived[i].seen = &looks[i];
  }
  a_->handle_frames(PortId::kLan, arrived, handled, now_);
  for (std::size_t i = 0; i < frames.size(); ++i) {
    EXPECT_EQ(single.handle_frame(PortId::kLan, frames[i], now_), handled[i].verdict) << i;
    if (handled[i].verdict == Verdict::kQueued) {
      EXPECT_EQ(single.held_slot(), handled[i].slot) << i;
    }
  }
  ASSERT_GT(a_->held_frames(), 10U);
  now_ += Duration::milliseconds(4);
  for (const std::size_t room : {std::size_t{3}, std::size_t{1}, std::size_t{40}}) {
    std::vector<FrameBytes> buffers(room, FrameBytes(a_->max_frame_size()));
    std::vector<MutableBytes> rooms(buffers.begin(), buffers.end());
    std::vector<Polled> polled(room);
    const std::size_t count = a_->poll_frames(PortId::kWan, rooms, polled, now_);
    EXPECT_EQ(count, room == 40 ? count : room);
    FrameBytes out(single.max_frame_size());
    for (std::size_t i = 0; i < count; ++i) {
      const Polled next = single.poll_frame(PortId::kWan, out, now_);
      ASSERT_EQ(next.kind, polled[i].kind);
      EXPECT_EQ(next.slot, polled[i].slot);
      ASSERT_EQ(next.size, polled[i].size);
      EXPECT_TRUE(std::equal(out.begin(), out.begin() + static_cast<std::ptrdiff_t>(next.size),
                             buffers[i].begin()));
    }
    if (count < room) {
      EXPECT_EQ(single.poll_frame(PortId::kWan, out, now_).kind, Polled::Kind::kNothing);
    }
  }
  EXPECT_EQ(single.held_frames(), a_->held_frames());
}

// One class may have two thirds of the places. The oldest frames of the fattest flow give way, and
// the port is told which.
TEST_F(GatewayTest, TheOldestBridgedFramesGiveWayBeyondTheLimit) {
  const FrameBytes frame = udp_frame(kClient, kServer, 53, FrameBytes(1'400));
  std::vector<std::size_t> slots;
  for (int i = 0; i < 3'000; ++i) {
    const Verdict verdict = lan(frame);
    ASSERT_NE(verdict, Verdict::kDrop) << i;
    if (verdict == Verdict::kQueued) slots.push_back(a_->held_slot());
  }
  EXPECT_EQ(a_->held_frames(), slots.size()) << "with those that the port has yet to throw away";
  const std::size_t most = Gateway::kMostHeldFrames * 2 / 3 + 1;
  std::set<std::size_t> dropped;
  FrameBytes out(a_->max_frame_size());
  const std::uint64_t sent = count(Counter::kWanFramesOut);
  for (Polled polled;
       (polled = a_->poll_frame(PortId::kWan, out, now_)).kind != Polled::Kind::kNothing;) {
    if (polled.kind == Polled::Kind::kDropped) dropped.insert(polled.slot);
  }
  EXPECT_NEAR(static_cast<double>(a_->held_frames()), static_cast<double>(most), 200);
  EXPECT_EQ(dropped,
            std::set(slots.begin(), slots.begin() + static_cast<std::ptrdiff_t>(dropped.size())));
  EXPECT_EQ(dropped.size(), slots.size() - a_->held_frames());
  EXPECT_EQ(count(Counter::kDroppedBridgedQueue), dropped.size());
  EXPECT_EQ(count(Counter::kWanFramesOut), sent);
}

// A frame that has waited for too long is dropped when its turn comes.
TEST_F(GatewayTest, BridgedFramesDoNotWaitForEver) {
  const FrameBytes frame = udp_frame(kClient, kServer, 53, FrameBytes(1'400));
  for (int i = 0; i < 100; ++i) lan(frame);
  const std::size_t held = a_->held_frames();
  now_ += Duration::seconds(2);
  FrameBytes out(a_->max_frame_size());
  std::size_t left = 0, dropped = 0;
  for (Polled polled;
       (polled = a_->poll_frame(PortId::kWan, out, now_)).kind != Polled::Kind::kNothing;) {
    left += polled.kind == Polled::Kind::kHeld ? 1U : 0U;
    dropped += polled.kind == Polled::Kind::kDropped ? 1U : 0U;
  }
  EXPECT_LE(left, 8U);
  EXPECT_EQ(left + dropped, held);
  EXPECT_EQ(count(Counter::kDroppedBridgedLate), dropped);
  EXPECT_EQ(a_->held_frames(), 0U);
}

TEST_F(GatewayTest, WhatWaitsInAClassLeavesThoughTheClassIsNoMore) {
  config_a_.classes = {{.name = "slow", .maximum = BitRate::bits_per_second(10'000)}};
  config::Rule rule;
  rule.match.protocol = {config::kProtocolUdp};
  rule.traffic_class = "slow";
  config_a_.rules = {rule};
  a_->reconfigure(config_a_, now_);
  const FrameBytes frame = udp_frame(kClient, kServer, 53, FrameBytes(1'400));
  EXPECT_EQ(lan(frame), Verdict::kBridge);
  EXPECT_EQ(lan(frame), Verdict::kQueued);
  const std::size_t slot = a_->held_slot();
  FrameBytes out(a_->max_frame_size());
  while (a_->poll_frame(PortId::kWan, out, now_).kind == Polled::Kind::kWritten) continue;
  EXPECT_EQ(a_->held_frames(), 1U);
  EXPECT_EQ(a_->classes().at(0).held_frames, 1U);
  config_a_.classes.clear();
  config_a_.rules[0].traffic_class.clear();
  a_->reconfigure(config_a_, now_);
  const Polled polled = a_->poll_frame(PortId::kWan, out, now_);
  EXPECT_EQ(polled.kind, Polled::Kind::kHeld);
  EXPECT_EQ(polled.slot, slot);
  EXPECT_EQ(a_->held_frames(), 0U);
}

// A second carrier beside "sat", without a peer.
config::Link slow_link() {
  return {.name = "slow",
          .send_rate = BitRate::bits_per_second(10'000),
          .receive_rate = BitRate::bits_per_second(10'000)};
}

TEST_F(GatewayTest, ACongestedCarrierHoldsUpNoFrameThatAnotherHasRoomFor) {
  config_a_.links.push_back(slow_link());
  a_ = std::make_unique<Gateway>(
      config_a_, Identity{.boot_epoch = 1, .secret = {1, 2}, .wan_mac = kGatewayMac}, memory_a_,
      now_);
  const FrameBytes frame = udp_frame(kClient, kServer, 9, FrameBytes(1400));
  FrameBytes out(a_->max_frame_size());
  // The first frame books out the slow carrier. The other one carries 40 of its 50 Mbit/s.
  for (int i = 0; i < 3000; ++i) {
    now_ += Duration::microseconds(294);
    const Verdict verdict = lan(frame);
    ASSERT_TRUE(verdict == Verdict::kBridge || verdict == Verdict::kQueued) << i;
    while (a_->poll_frame(PortId::kWan, out, now_).kind != Polled::Kind::kNothing) {
    }
    ASSERT_LE(a_->held_frames(), 1U) << i;
  }
  EXPECT_EQ(count(Counter::kDroppedBridgedQueue), 0U);
}

TEST_F(GatewayTest, TheCapacityOfALinkThatNoPeerUsesIsRefused) {
  config_a_.links.push_back(slow_link());
  a_ = std::make_unique<Gateway>(
      config_a_, Identity{.boot_epoch = 1, .secret = {1, 2}, .wan_mac = kGatewayMac}, memory_a_,
      now_);
  using Result = Gateway::CapacityResult;
  const BitRate rate = BitRate::bits_per_second(5'000);
  for (const LinkWay way : {LinkWay::kSend, LinkWay::kReceive}) {
    EXPECT_EQ(a_->rates().set_capacity("slow", way, rate, now_), Result::kUnusedLink);
    EXPECT_EQ(a_->rates().set_capacity("sat", way, rate, now_), Result::kSet);
  }
}

TEST_F(GatewayTest, TellsWhatEachLinkCarries) {
  config_a_.links.push_back(slow_link());
  a_ = std::make_unique<Gateway>(
      config_a_, Identity{.boot_epoch = 1, .secret = {1, 2}, .wan_mac = kGatewayMac}, memory_a_,
      now_);
  start_peer();
  const config::Link& sat = config_a_.links[0];
  const BitRate less = BitRate::bits_per_second(5'000'000);
  a_->rates().set_capacity("sat", LinkWay::kSend, less, now_);
  auto links = a_->links();
  ASSERT_EQ(links.size(), 2U);
  EXPECT_EQ(links[0].name, "sat");
  EXPECT_EQ(links[0].peers, 1U);
  EXPECT_FALSE(links[0].finds_capacity);
  EXPECT_EQ(links[0].send.configured, sat.send_rate);
  EXPECT_EQ(links[0].send.commanded, less);
  EXPECT_EQ(links[0].send.capacity, less);
  EXPECT_EQ(links[0].receive.capacity, sat.receive_rate);
  EXPECT_TRUE(links[0].receive.commanded.is_zero());
  EXPECT_GT(links[0].sent_bytes, 0U) << "the gateways greet each other";
  EXPECT_EQ(links[1].peers, 0U);
  EXPECT_EQ(links[1].send.capacity, config_a_.links[1].send_rate);
  EXPECT_EQ(links[1].sent_bytes, 0U);

  // The far gateway announces that less arrives, and then that all arrives.
  const BitRate least = BitRate::bits_per_second(2'000'000);
  b_->rates().set_capacity("sat", LinkWay::kReceive, least, now_);
  EXPECT_EQ(b_->links()[0].receive.capacity, least);
  for (int i = 0; i < 10; ++i) step();
  EXPECT_EQ(a_->links()[0].send.capacity, least);
  EXPECT_EQ(a_->links()[0].send.commanded, less);
  b_->rates().set_capacity("sat", LinkWay::kReceive, {}, now_);
  a_->rates().set_capacity("sat", LinkWay::kSend, {}, now_);
  for (int i = 0; i < 10; ++i) step();
  EXPECT_EQ(a_->links()[0].send.capacity, sat.send_rate);
  EXPECT_TRUE(a_->links()[0].send.commanded.is_zero());
}

TEST_F(GatewayTest, BridgesTcpWhileThePeerIsDown) {
  EXPECT_EQ(lan(tcp_frame(kClient, kServer, syn())), Verdict::kBridge);
  EXPECT_EQ(count(Counter::kBridgedPeerDown), 1U);
}

// If the second SYN were relayed, the server would not know its connection, as it has answered the
// first SYN.
TEST_F(GatewayTest, BridgesTheRepetitionOfABridgedSyn) {
  EXPECT_EQ(lan(tcp_frame(kClient, kServer, syn())), Verdict::kBridge);
  start_peer();
  EXPECT_EQ(lan(tcp_frame(kClient, kServer, syn())), Verdict::kBridge);
  EXPECT_EQ(count(Counter::kBridgedMidStream), 1U);
  wire::TcpHeader another = syn();
  another.sequence += 1;
  EXPECT_EQ(lan(tcp_frame(kClient, kServer, another)), Verdict::kConsumed);
}

TEST_F(GatewayTest, BridgesByRulePrefixAndForMidStreamSegments) {
  start_peer();
  EXPECT_EQ(lan(tcp_frame(kClient, kServer, syn(40000, 22))), Verdict::kBridge);
  EXPECT_EQ(count(Counter::kBridgedByRule), 1U);
  EXPECT_EQ(lan(tcp_frame(kClient, "192.0.2.77", syn())), Verdict::kBridge);
  EXPECT_EQ(count(Counter::kBridgedNoPeerPrefix), 1U);
  wire::TcpHeader data = syn();
  data.flags = wire::TcpFlags::kAck;
  EXPECT_EQ(lan(tcp_frame(kClient, kServer, data)), Verdict::kBridge);
  EXPECT_EQ(count(Counter::kBridgedMidStream), 1U);
  EXPECT_EQ(a_->flow_count(), 0U);
}

TEST_F(GatewayTest, AnswersASynForTheServer) {
  start_peer();
  EXPECT_EQ(lan(tcp_frame(kClient, kServer, syn())), Verdict::kConsumed);
  EXPECT_EQ(count(Counter::kFlowsAccepted), 1U);
  const auto answer = next_frame(PortId::kLan);
  ASSERT_TRUE(answer);
  const auto ethernet = wire::parse_ethernet(*answer);
  ASSERT_TRUE(ethernet);
  EXPECT_EQ(ethernet->source, kServerMac);
  EXPECT_EQ(ethernet->destination, kHostMac);
  const auto ip = wire::parse_ip(ConstBytes(*answer).subspan(14));
  ASSERT_TRUE(ip);
  EXPECT_EQ(ip->source, ip_of(kServer));
  EXPECT_EQ(ip->destination, ip_of(kClient));
  const ConstBytes segment = ConstBytes(*answer).subspan(34);
  EXPECT_TRUE(wire::transport_checksum_ok(ip->source, ip->destination, ip->protocol, segment));
  const auto tcp = wire::parse_tcp(segment);
  ASSERT_TRUE(tcp);
  EXPECT_EQ(tcp->header.flags, wire::TcpFlags::kSyn | wire::TcpFlags::kAck);
  EXPECT_EQ(tcp->header.acknowledgment, 1001U);
  EXPECT_EQ(tcp->header.source_port, 80);
  // No stream may be opened before the host has answered.
  EXPECT_EQ(a_->peers()[0].streams, 0U);
}

TEST_F(GatewayTest, DropsBrokenChecksumsAndNamesUnfinishedOnes) {
  start_peer();
  FrameBytes frame = tcp_frame(kClient, kServer, syn());
  frame[50] ^= std::byte{1};
  EXPECT_EQ(lan(frame), Verdict::kDrop);
  EXPECT_EQ(count(Counter::kDroppedBadChecksum), 1U);
  frame = tcp_frame(kClient, kServer, syn());
  const auto size = static_cast<std::uint32_t>(frame.size() - 34);
  store_u16(frame.data() + 50,
            wire::pseudo_header_sum(ip_of(kClient), ip_of(kServer), wire::kProtocolTcp, size));
  EXPECT_EQ(lan(frame), Verdict::kDrop);
  EXPECT_EQ(count(Counter::kDroppedUnfinishedChecksum), 1U);
}

TEST_F(GatewayTest, BridgesSynsBeyondItsLimitsThatItMayNotAnswerByItself) {
  config_a_.rules.back().modes.handshake = config::HandshakeMode::kRemote;
  a_ = std::make_unique<Gateway>(
      config_a_, Identity{.boot_epoch = 1, .secret = {1, 2}, .wan_mac = kGatewayMac}, memory_a_,
      now_);
  start_peer();
  for (std::uint16_t i = 0; i < 3; ++i) {
    ASSERT_EQ(lan(tcp_frame(kClient, kServer, syn(static_cast<std::uint16_t>(40000 + i)))),
              Verdict::kConsumed);
  }
  EXPECT_EQ(lan(tcp_frame(kClient, kServer, syn(50000))), Verdict::kBridge);
  EXPECT_EQ(count(Counter::kBridgedHalfOpenFull), 1U);
}

TEST_F(GatewayTest, BridgesSignedSegments) {
  start_peer();
  FrameBytes frame = tcp_frame(kClient, kServer, syn());
  // Turns the MSS option (kind 2, length 4) and its value into TCP-AO (kind 29, length 4).
  frame[54] = std::byte{29};
  EXPECT_EQ(lan(frame), Verdict::kBridge);
  EXPECT_EQ(count(Counter::kBridgedTcpOptions), 1U);
}

TEST_F(GatewayTest, DropsARelayedFlowsRawSegmentFromTheWan) {
  start_peer();
  lan(tcp_frame(kClient, kServer, syn()));
  wire::TcpHeader raw;
  raw.source_port = 80;
  raw.destination_port = 40000;
  raw.flags = wire::TcpFlags::kAck;
  EXPECT_EQ(wan(tcp_frame(kServer, kClient, raw)), Verdict::kDrop);
  EXPECT_EQ(count(Counter::kDroppedRelayedFromWan), 1U);
  raw.destination_port = 40001;
  EXPECT_EQ(wan(tcp_frame(kServer, kClient, raw)), Verdict::kBridge);
}

TEST_F(GatewayTest, KeepsFlowsOfDifferentVlansApart) {
  start_peer();
  wire::EthernetHeader tagged = host_to_server();
  tagged.tag_count = 1;
  tagged.tags[0] = {0x8100, 42};
  EXPECT_EQ(lan(tcp_frame(kClient, kServer, syn())), Verdict::kConsumed);
  EXPECT_EQ(lan(tcp_frame(kClient, kServer, syn(), tagged)), Verdict::kConsumed);
  EXPECT_EQ(a_->flow_count(), 2U);
}

TEST_F(GatewayTest, AnswersArpForItsOwnAddressOnTheWanOnly) {
  const auto request = [](std::string_view target, std::string_view sender = "192.0.2.2") {
    FrameBytes frame(14 + wire::kArpSize);
    wire::EthernetHeader ethernet;
    ethernet.source = kPeerMac;
    ethernet.destination = MacAddress::broadcast();
    ethernet.type = wire::EtherType::kArp;
    wire::write_ethernet(ethernet, frame);
    wire::write_arp({.operation = wire::ArpOperation::kRequest,
                     .sender_mac = kPeerMac,
                     .sender = ip_of(sender),
                     .target_mac = {},
                     .target = ip_of(target)},
                    MutableBytes(frame).subspan(14));
    return frame;
  };
  EXPECT_EQ(wan(request("192.0.2.1")), Verdict::kConsumed);
  EXPECT_EQ(count(Counter::kArpAnswered), 1U);
  EXPECT_TRUE(a_->peers()[0].resolved);
  EXPECT_EQ(wan(request("192.0.2.9")), Verdict::kBridge);
  EXPECT_EQ(lan(request("192.0.2.1", kClient)), Verdict::kBridge);
  const auto answer = next_frame(PortId::kWan);
  ASSERT_TRUE(answer);
  const auto reply = wire::parse_arp(ConstBytes(*answer).subspan(14));
  ASSERT_TRUE(reply);
  EXPECT_EQ(reply->operation, wire::ArpOperation::kReply);
  EXPECT_EQ(reply->sender_mac, kGatewayMac);
}

TEST_F(GatewayTest, AnotherMachineWithItsAddressIsCounted) {
  const auto request = [](const MacAddress& mac) {
    FrameBytes frame(14 + wire::kArpSize);
    wire::EthernetHeader ethernet;
    ethernet.source = mac;
    ethernet.destination = MacAddress::broadcast();
    ethernet.type = wire::EtherType::kArp;
    wire::write_ethernet(ethernet, frame);
    wire::write_arp({.operation = wire::ArpOperation::kRequest,
                     .sender_mac = mac,
                     .sender = ip_of("192.0.2.1"),
                     .target_mac = {},
                     .target = ip_of("192.0.2.2")},
                    MutableBytes(frame).subspan(14));
    return frame;
  };
  EXPECT_EQ(wan(request(kGatewayMac)), Verdict::kBridge);
  EXPECT_EQ(count(Counter::kAddressConflicts), 0U) << "our own, come back";
  EXPECT_EQ(wan(request(kServerMac)), Verdict::kConsumed);
  EXPECT_EQ(count(Counter::kAddressConflicts), 1U);
}

TEST_F(GatewayTest, AnswersPingForItsOwnAddress) {
  wire::IpHeader ip;
  ip.source = ip_of("192.0.2.2");
  ip.destination = ip_of("192.0.2.1");
  ip.protocol = wire::kProtocolIcmp;
  FrameBytes echo(wire::kIcmpHeaderSize + 8);
  const FrameBytes body(8);
  wire::write_icmp(ip, {.type = wire::kIcmpEchoRequest, .code = 0, .rest = 7, .body = body}, echo);
  wire::EthernetHeader ethernet;
  ethernet.source = kPeerMac;
  ethernet.destination = kGatewayMac;
  EXPECT_EQ(wan(ip_frame(ethernet, ip, echo)), Verdict::kConsumed);
  const auto answer = next_frame(PortId::kWan);
  ASSERT_TRUE(answer);
  const auto header = wire::parse_ip(ConstBytes(*answer).subspan(14));
  ASSERT_TRUE(header);
  const auto reply = wire::parse_icmp(*header, ConstBytes(*answer).subspan(34));
  ASSERT_TRUE(reply);
  EXPECT_EQ(reply->type, wire::kIcmpEchoReply);
  EXPECT_EQ(reply->rest, 7U);
}

TEST_F(GatewayTest, ResetsAFlowThatIsSilentForTooLong) {
  config_a_.limits.idle_timeout = Duration::seconds(5);
  a_ = std::make_unique<Gateway>(
      config_a_, Identity{.boot_epoch = 2, .secret = {1, 2}, .wan_mac = kGatewayMac}, memory_a_,
      now_);
  start_peer();
  lan(tcp_frame(kClient, kServer, syn()));
  const auto answer = next_frame(PortId::kLan);
  ASSERT_TRUE(answer);
  wire::TcpHeader ack = syn();
  ack.flags = wire::TcpFlags::kAck;
  ack.sequence = 1001;
  ack.acknowledgment = load_u32(answer->data() + 38) + 1;
  ack.options = {};
  EXPECT_EQ(lan(tcp_frame(kClient, kServer, ack)), Verdict::kConsumed);
  ASSERT_EQ(count(Counter::kFlowsEstablished), 1U);
  // The far gateway's SYNs go nowhere here, so its host never answers.
  const Instant start = now_;
  while (a_->flow_count() > 0 && now_ < start + Duration::seconds(20)) {
    step();
    while (next_frame(PortId::kLan)) {
    }
  }
  EXPECT_EQ(count(Counter::kFlowsResetIdle), 1U);
  EXPECT_EQ(a_->flow_count(), 0U);
  EXPECT_GE(now_, start + Duration::seconds(5));
  EXPECT_LE(now_, start + Duration::seconds(6));
  EXPECT_EQ(a_->status(now_).arena_used, 0U);
}

TEST_F(GatewayTest, DropsWhatALanHostSendsInAGatewaysName) {
  EXPECT_EQ(lan(udp_frame("192.0.2.1", "192.0.2.2", kStpPort, FrameBytes(40))), Verdict::kDrop);
  EXPECT_EQ(lan(udp_frame("192.0.2.2", "192.0.2.1", kStpPort, FrameBytes(40))), Verdict::kDrop);
  EXPECT_EQ(count(Counter::kDroppedForgedGateway), 2U);
}

TEST_F(GatewayTest, RefusesStpFromStrangersAndOtherTrafficToItself) {
  wire::EthernetHeader to_gateway;
  to_gateway.source = kPeerMac;
  to_gateway.destination = kGatewayMac;
  EXPECT_EQ(wan(udp_frame("192.0.2.3", "192.0.2.1", kStpPort, FrameBytes(40), to_gateway)),
            Verdict::kDrop);
  EXPECT_EQ(count(Counter::kDroppedStpUnknownPeer), 1U);
  EXPECT_EQ(wan(udp_frame("192.0.2.2", "192.0.2.1", 9, FrameBytes(40), to_gateway)),
            Verdict::kDrop);
  EXPECT_EQ(count(Counter::kDroppedToGateway), 1U);
}

TEST(GatewayConfig, RefusesAPeerWithoutALink) {
  config::Gateway config = config_of("192.0.2.1", "192.0.2.2", "198.51.100.0/24");
  config.peers[0].links = {"none"};
  std::vector<std::byte> memory(1U << 20);
  EXPECT_THROW(Gateway(config, Identity{}, memory, Instant()), std::invalid_argument);
}

}  // namespace
}  // namespace satrelay::gateway::gateway_test
