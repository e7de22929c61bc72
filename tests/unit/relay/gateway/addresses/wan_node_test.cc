// The gateway among its neighbours on the WAN: its answers, its questions, and the frames that it
// believes.
#include "relay/gateway/addresses/wan_node.h"

#include <gtest/gtest.h>

#include <optional>

#include "pep/wire/arp.h"
#include "pep/wire/udp.h"
#include "tests/support/gateway_config.h"
#include "tests/unit/relay/gateway/frame_builder.h"

namespace satrelay::gateway::wan_node_test {
namespace {

constexpr auto kOwn = "192.0.2.1";
constexpr auto kPeer = "192.0.2.2";
constexpr auto kRouter = "192.0.2.6";
constexpr MacAddress kRouterMac{{2, 0, 0, 0, 0, 0x77}};

config::Gateway two_peers() {
  config::Gateway config = test::gateway_config(
      {.own = kOwn, .subnet = "192.0.2.0/29", .next_hop = kRouter},
      {test::peer_config("near", kPeer), test::peer_config("far", "192.0.2.130"),
       test::peer_config("farther", "192.0.2.140")});
  config.stp.port = 7878;
  return config;
}

// Has room for `left` frames.
struct Budget final : OwnFrames {
  bool take(OwnFrame kind, bool known, std::size_t frame_size, Instant) override {
    asked.push_back({kind, known, frame_size});
    return left > 0 && left-- > 0;
  }
  struct Asked {
    OwnFrame kind;
    bool known;
    std::size_t size;
  };
  std::vector<Asked> asked;
  int left = 1'000;
};

class WanNodeTest : public testing::Test {
 protected:
  void start(const config::Gateway& config) {
    node_.emplace(config, share_, kGatewayMac, budget_, counters_, now_);
  }
  static FrameBytes arp(const wire::ArpMessage& message, const wire::EthernetHeader& link) {
    FrameBytes frame(link.size() + wire::kArpSize);
    wire::EthernetHeader ethernet = link;
    ethernet.type = wire::EtherType::kArp;
    wire::write_ethernet(ethernet, frame);
    wire::write_arp(message, MutableBytes(frame).subspan(link.size()));
    return frame;
  }
  static FrameBytes arp(wire::ArpOperation operation, std::string_view sender,
                        const MacAddress& mac, std::string_view target) {
    return arp({.operation = operation,
                .sender_mac = mac,
                .sender = ip_of(sender),
                .target_mac = kGatewayMac,
                .target = ip_of(target)},
               from(mac));
  }
  static wire::EthernetHeader from(const MacAddress& mac) {
    wire::EthernetHeader ethernet;
    ethernet.source = mac;
    ethernet.destination = kGatewayMac;
    return ethernet;
  }
  bool handle_arp(const FrameBytes& frame) { return node_->handle_arp(look_at(frame), now_); }
  // The next frame of the node, parsed as ARP.
  std::optional<wire::ArpMessage> poll_arp() {
    const std::size_t size = node_->poll_frame(out_);
    if (size == 0) return std::nullopt;
    seen_ = look_at(ConstBytes(out_).first(size));
    return wire::parse_arp(seen_.payload);
  }
  void wait(Duration time) {
    now_ += time;
    if (node_->next_timeout() <= now_) node_->handle_timeout(now_);
  }

  Instant now_ = Instant::from_nanoseconds(1);
  Budget budget_;
  Counters counters_;
  Share share_;
  std::optional<WanNode> node_;
  FrameBytes out_ = FrameBytes(2048);
  Frame seen_;
};

TEST_F(WanNodeTest, AsksForEachNextHopOnceASecondUntilItAnswers) {
  start(two_peers());
  EXPECT_EQ(node_->next_timeout(), now_);
  wait(Duration::zero());
  const auto first = poll_arp();
  const auto second = poll_arp();
  ASSERT_TRUE(first && second);
  EXPECT_EQ(first->target, ip_of(kPeer));
  EXPECT_EQ(second->target, ip_of(kRouter)) << "which two peers share";
  EXPECT_EQ(seen_.ethernet.destination, MacAddress::broadcast());
  EXPECT_FALSE(poll_arp());
  wait(Duration::milliseconds(999));
  EXPECT_FALSE(poll_arp());
  wait(Duration::milliseconds(1));
  EXPECT_TRUE(poll_arp() && poll_arp());
  EXPECT_TRUE(handle_arp(arp(wire::ArpOperation::kReply, kRouter, kRouterMac, kOwn)));
  EXPECT_FALSE(node_->next_hop(FarGatewayId(0)));
  EXPECT_EQ(node_->next_hop(FarGatewayId(1)), kRouterMac);
  EXPECT_EQ(node_->next_hop(FarGatewayId(2)), kRouterMac);
}

// The first worker asks and answers for all workers. Another worker learns from the answers that it
// sees, and asks only for a next hop that it has not heard.
TEST_F(WanNodeTest, AnotherWorkerThanTheFirstListens) {
  share_ = {.worker = 1, .workers = 2};
  start(two_peers());
  wait(Duration::zero());
  EXPECT_FALSE(poll_arp());
  EXPECT_TRUE(handle_arp(arp(wire::ArpOperation::kReply, kRouter, kRouterMac, kOwn)));
  EXPECT_EQ(node_->next_hop(FarGatewayId(1)), kRouterMac);
  EXPECT_TRUE(handle_arp(arp(wire::ArpOperation::kRequest, kRouter, kRouterMac, kOwn)));
  EXPECT_FALSE(poll_arp()) << "the first one answers";
  EXPECT_TRUE(handle_arp(arp(wire::ArpOperation::kReply, kOwn, kPeerMac, kRouter)));
  EXPECT_EQ(counters_[Counter::kAddressConflicts], 0U);
  wait(Duration::seconds(1));
  const auto asked = poll_arp();
  ASSERT_TRUE(asked) << "who was not heard is asked for";
  EXPECT_EQ(asked->target, ip_of(kPeer));
  EXPECT_FALSE(poll_arp());
}

TEST_F(WanNodeTest, ANeighbourThatFallsSilentKeepsItsMac) {
  start(two_peers());
  handle_arp(arp(wire::ArpOperation::kReply, kPeer, kPeerMac, kOwn));
  handle_arp(arp(wire::ArpOperation::kReply, kRouter, kRouterMac, kOwn));
  wait(Duration::seconds(29));
  EXPECT_FALSE(poll_arp());
  int to_all = 0;
  for (int i = 0; i < 20; ++i) {
    wait(Duration::seconds(1));
    while (poll_arp()) to_all += seen_.ethernet.destination == MacAddress::broadcast() ? 1 : 0;
  }
  EXPECT_GT(to_all, 0) << "another may have taken its place";
  EXPECT_EQ(node_->next_hop(FarGatewayId(0)), kPeerMac);
}

TEST_F(WanNodeTest, AnswersForItsOwnAddressOnly) {
  start(two_peers());
  EXPECT_FALSE(handle_arp(arp(wire::ArpOperation::kRequest, kPeer, kPeerMac, kRouter)));
  EXPECT_FALSE(poll_arp());
  EXPECT_TRUE(handle_arp(arp(wire::ArpOperation::kRequest, kPeer, kPeerMac, kOwn)));
  const auto answer = poll_arp();
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->operation, wire::ArpOperation::kReply);
  EXPECT_EQ(answer->sender, ip_of(kOwn));
  EXPECT_EQ(answer->sender_mac, kGatewayMac);
  EXPECT_EQ(seen_.ethernet.destination, kPeerMac);
  EXPECT_EQ(counters_[Counter::kArpAnswered], 1U);
}

TEST_F(WanNodeTest, AnAnswerHasItsBudgetAndThoseThatAreKnownGoFirst) {
  start(two_peers());
  handle_arp(arp(wire::ArpOperation::kRequest, kPeer, kPeerMac, kOwn));
  ASSERT_EQ(budget_.asked.size(), 1U);
  EXPECT_EQ(budget_.asked[0].kind, OwnFrame::kNeighbour);
  EXPECT_TRUE(budget_.asked[0].known);
  EXPECT_EQ(node_->next_frame_size(), budget_.asked[0].size);
  ASSERT_TRUE(poll_arp());
  handle_arp(arp(wire::ArpOperation::kRequest, "192.0.2.5", kRouterMac, kOwn));
  EXPECT_FALSE(budget_.asked[1].known);
  ASSERT_TRUE(poll_arp());
  budget_.left = 0;
  EXPECT_TRUE(handle_arp(arp(wire::ArpOperation::kRequest, kRouter, kRouterMac, kOwn)));
  EXPECT_TRUE(budget_.asked[2].known);
  EXPECT_FALSE(poll_arp());
  EXPECT_EQ(node_->next_frame_size(), 0U);
  EXPECT_EQ(counters_[Counter::kNeighboursOverBudget], 1U);
  EXPECT_EQ(counters_[Counter::kArpAnswered], 2U);
}

TEST_F(WanNodeTest, StrangersLeaveHalfOfTheQueue) {
  start(two_peers());
  for (int i = 0; i < 100; ++i) {
    handle_arp(arp(wire::ArpOperation::kRequest, "192.0.2.5", kRouterMac, kOwn));
  }
  EXPECT_EQ(counters_[Counter::kArpAnswered], 16U);
  EXPECT_EQ(counters_[Counter::kNeighboursOverBudget], 84U);
  handle_arp(arp(wire::ArpOperation::kRequest, kPeer, kPeerMac, kOwn));
  EXPECT_EQ(counters_[Counter::kArpAnswered], 17U);
}

TEST_F(WanNodeTest, WhomTheBudgetDoesNotReachIsAskedFirstTheNextTime) {
  start(two_peers());
  budget_.left = 1;
  wait(Duration::zero());
  const auto first = poll_arp();
  ASSERT_TRUE(first);
  EXPECT_FALSE(poll_arp());
  budget_.left = 1;
  wait(Duration::seconds(1));
  const auto second = poll_arp();
  ASSERT_TRUE(second);
  EXPECT_NE(second->target, first->target);
}

TEST_F(WanNodeTest, CountsWhoeverElseHasItsAddress) {
  start(two_peers());
  EXPECT_TRUE(handle_arp(arp(wire::ArpOperation::kRequest, kOwn, kRouterMac, kPeer)))
      << "what is false is not passed on";
  EXPECT_EQ(counters_[Counter::kAddressConflicts], 1U);
}

TEST_F(WanNodeTest, LearnsNoMacThatCannotBeAHosts) {
  start(two_peers());
  handle_arp(arp(wire::ArpOperation::kReply, kPeer, MacAddress::broadcast(), kOwn));
  handle_arp(arp(wire::ArpOperation::kReply, kPeer, MacAddress(), kOwn));
  handle_arp(arp(wire::ArpOperation::kReply, kPeer, kGatewayMac, kOwn));
  EXPECT_FALSE(node_->next_hop(FarGatewayId(0)));
}

TEST_F(WanNodeTest, AVlanIsItsOwnNetwork) {
  config::Gateway config = two_peers();
  config.gateway.vlan = 7;
  start(config);
  EXPECT_FALSE(handle_arp(arp(wire::ArpOperation::kRequest, kPeer, kPeerMac, kOwn)));
  wire::EthernetHeader tagged = from(kPeerMac);
  EXPECT_FALSE(node_->is_in_own_network(tagged));
  tagged.tag_count = 1;
  tagged.tags[0] = {0x8100, 7};
  EXPECT_TRUE(node_->is_in_own_network(tagged));
  EXPECT_TRUE(handle_arp(arp({.operation = wire::ArpOperation::kRequest,
                              .sender_mac = kPeerMac,
                              .sender = ip_of(kPeer),
                              .target_mac = {},
                              .target = ip_of(kOwn)},
                             tagged)));
  ASSERT_TRUE(poll_arp());
  EXPECT_EQ(seen_.ethernet.tag_count, 1);
  EXPECT_EQ(seen_.ethernet.tags[0].vlan_id(), 7);
}

TEST_F(WanNodeTest, APriorityTagNamesNoVlan) {
  start(two_peers());
  wire::EthernetHeader priority = from(kPeerMac);
  priority.tag_count = 1;
  priority.tags[0] = {0x8100, 0xA000};
  EXPECT_TRUE(node_->is_in_own_network(priority));
}

TEST_F(WanNodeTest, AnswersPing) {
  start(two_peers());
  wire::IpHeader ip;
  ip.source = ip_of(kPeer);
  ip.destination = ip_of(kOwn);
  ip.protocol = wire::kProtocolIcmp;
  const FrameBytes data(32, std::byte{0x5a});
  FrameBytes echo(wire::kIcmpHeaderSize + data.size());
  wire::write_icmp(ip, {.type = wire::kIcmpEchoRequest, .rest = 0x1234'0001, .body = data}, echo);
  const FrameBytes frame = ip_frame(from(kPeerMac), ip, echo);
  EXPECT_TRUE(node_->handle_icmp(look_at(frame), now_));
  const std::size_t size = node_->poll_frame(out_);
  ASSERT_GT(size, 0U);
  const Frame answer = look_at(ConstBytes(out_).first(size));
  EXPECT_EQ(answer.ip.destination, ip_of(kPeer));
  const auto reply = wire::parse_icmp(answer.ip, answer.payload);
  ASSERT_TRUE(reply);
  EXPECT_EQ(reply->type, wire::kIcmpEchoReply);
  EXPECT_EQ(reply->rest, 0x1234'0001U);
  EXPECT_EQ(reply->body.size(), data.size());
  EXPECT_EQ(counters_[Counter::kPingAnswered], 1U);
}

TEST_F(WanNodeTest, WritesTheHeadersOfADatagram) {
  start(two_peers());
  handle_arp(arp(wire::ArpOperation::kReply, kPeer, kPeerMac, kOwn));
  constexpr std::size_t kDatagram = 100;
  const std::size_t before = node_->stp_header_size();
  FrameBytes frame(before + kDatagram);
  const LaneAddress lane{.ports = {.source = 7881, .destination = 7878}};
  node_->write_stp_headers(lane, kDatagram, control::Priority{}, frame);
  const Frame sent = look_at(frame);
  EXPECT_EQ(sent.kind, FrameKind::kUdp);
  EXPECT_EQ(sent.ethernet.source, kGatewayMac);
  EXPECT_EQ(sent.ethernet.destination, kPeerMac);
  EXPECT_EQ(sent.ip.source, ip_of(kOwn));
  EXPECT_EQ(sent.ip.destination, ip_of(kPeer));
  const auto udp = wire::parse_udp(sent.payload);
  ASSERT_TRUE(udp);
  EXPECT_EQ(udp->source_port, 7881);
  EXPECT_EQ(udp->destination_port, 7878);
  EXPECT_EQ(udp->length, wire::kUdpHeaderSize + kDatagram);
  node_->write_stp_headers(lane, kDatagram, control::Priority{}, frame, LinkWay::kReceive);
  const Frame received = look_at(frame);
  EXPECT_EQ(received.ethernet.source, kPeerMac) << "as if the peer had sent it";
  EXPECT_EQ(received.ethernet.destination, kGatewayMac);
  EXPECT_EQ(received.ip.source, ip_of(kPeer));
  const auto theirs = wire::parse_udp(received.payload);
  ASSERT_TRUE(theirs);
  EXPECT_EQ(theirs->source_port, 7881) << "both ends send by the same ports";
  EXPECT_EQ(theirs->destination_port, 7878);
}

TEST_F(WanNodeTest, ManyRequestsDoNotTakeMoreThanItsQueue) {
  start(two_peers());
  for (int i = 0; i < 100; ++i) {
    EXPECT_TRUE(handle_arp(arp(wire::ArpOperation::kRequest, kPeer, kPeerMac, kOwn)));
  }
  int answers = 0;
  while (poll_arp()) ++answers;
  EXPECT_EQ(answers, 32);
}

}  // namespace
}  // namespace satrelay::gateway::wan_node_test
