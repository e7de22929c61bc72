// Flows from before a restart. The gateway asks their hosts with SYN, and resets them by the
// numbers in the answers.
#include "relay/gateway/recovery/orphaned_flows.h"

#include <gtest/gtest.h>

#include <array>
#include <optional>

#include "relay/gateway/frames/frame.h"
#include "tests/support/gateway_config.h"
#include "tests/unit/relay/gateway/frame_builder.h"

namespace satrelay::gateway::orphaned_flows_test {
namespace {

using Flags = wire::TcpFlags;
using Listed = OrphanedFlows::Listed;

OpenMetadata flow_of(std::uint16_t client_port) {
  OpenMetadata flow;
  flow.ethernet.source = kPeerMac;
  flow.ethernet.destination = kGatewayMac;
  flow.ethernet.type = wire::EtherType::kIpv4;
  flow.client = ip_of("203.0.113.5");
  flow.server = ip_of("198.51.100.5");
  flow.client_port = client_port;
  flow.server_port = 80;
  return flow;
}

config::Gateway of_one_peer() {
  config::Gateway config;
  config.peers.emplace_back();
  config.peers[0].prefixes = {IpPrefix{}};
  return config;
}

class OrphanedFlowsTest : public testing::Test {
 protected:
  struct Sent {
    Frame frame;
    wire::TcpHeader tcp;
  };
  std::optional<Sent> poll() {
    const std::size_t size = orphans_.poll_frame(buffer_, now_);
    if (size == 0) return std::nullopt;
    const Frame frame = look_at(ConstBytes(buffer_).first(size));
    const auto tcp = wire::parse_tcp(frame.payload);
    if (frame.kind != FrameKind::kTcp || !tcp) return std::nullopt;
    EXPECT_TRUE(wire::transport_checksum_ok(frame.ip.source, frame.ip.destination,
                                            frame.ip.protocol, frame.payload));
    return Sent{frame, tcp->header};
  }
  bool add(const OpenMetadata& flow, ClientSide client, const LaneAddress& lane = {}) {
    return orphans_.add(lane, flow, client, now_) == Listed::kTaken;
  }
  void pass(Duration time) {
    now_ += time;
    orphans_.handle_timeout(now_);
  }
  static wire::TcpHeader segment(std::uint8_t flags, std::uint32_t acknowledgment) {
    wire::TcpHeader header;
    header.flags = flags;
    header.acknowledgment = acknowledgment;
    return header;
  }
  const FlowKey server_{ip_of("198.51.100.5"), ip_of("203.0.113.5"), 80, 40'000, {}};
  const wire::EthernetHeader from_ = flow_of(0).ethernet;
  Counters counters_;
  config::Gateway config_ = of_one_peer();
  Policy policy_{config_};
  AwaitedAnswers awaited_{HashKey{1, 2}};
  LanNeighbours lan_{config_, policy_, HashKey{1, 2}, kGatewayMac, awaited_, counters_};
  alignas(8) std::array<std::byte, 2 * FlowJournal::kRecordSize> memory_{};
  FlowJournal journal_{memory_};
  Claims claims_{config_, policy_};
  OrphanedFlows orphans_{2, 1, HashKey{1, 2}, journal_, lan_, claims_, counters_};
  Instant now_ = Instant() + Duration::seconds(1);
  std::array<std::byte, 128> buffer_{};
};

TEST_F(OrphanedFlowsTest, TheChallengeAckOfAServerIsAnsweredWithTheResetItMustObey) {
  EXPECT_TRUE(add(flow_of(40'000), ClientSide::kPeer));
  EXPECT_LE(orphans_.next_timeout(), now_);
  const auto syn = poll();
  ASSERT_TRUE(syn);
  EXPECT_EQ(syn->tcp.flags, Flags::kSyn);
  EXPECT_EQ(syn->tcp.source_port, 40'000);
  EXPECT_EQ(syn->tcp.destination_port, 80);
  EXPECT_EQ(syn->frame.ip.source, ip_of("203.0.113.5"));
  EXPECT_EQ(syn->frame.ethernet.source, kPeerMac);
  EXPECT_FALSE(poll());

  EXPECT_TRUE(orphans_.handle_segment(server_, from_, segment(Flags::kAck, 123'456)));
  const auto reset = poll();
  ASSERT_TRUE(reset);
  EXPECT_EQ(reset->tcp.flags, Flags::kRst);
  EXPECT_EQ(reset->tcp.sequence, 123'456U);
  EXPECT_EQ(reset->frame.ethernet.destination, kPeerMac) << "the way the segment came";
  EXPECT_EQ(counters_[Counter::kDroppedOrphaned], 1U);

  // The host is asked again after a second, and does not know the connection.
  pass(Duration::milliseconds(999));
  EXPECT_FALSE(poll());
  pass(Duration::milliseconds(1));
  ASSERT_TRUE(poll());
  EXPECT_TRUE(orphans_.handle_segment(server_, from_, segment(Flags::kRst | Flags::kAck, 1)));
  EXPECT_EQ(orphans_.size(), 0U);
  EXPECT_EQ(counters_[Counter::kOrphansReset], 1U);
}

TEST_F(OrphanedFlowsTest, AClientIsAskedInTheNameOfItsServer) {
  EXPECT_TRUE(add(flow_of(40'000), ClientSide::kHere));
  const auto syn = poll();
  ASSERT_TRUE(syn);
  EXPECT_EQ(syn->tcp.source_port, 80);
  EXPECT_EQ(syn->frame.ethernet.source, kGatewayMac);
  EXPECT_EQ(syn->frame.ethernet.destination, kPeerMac);
  // The client's connection was gone before.
  const FlowKey client{server_.remote, server_.local, 40'000, 80, {}};
  EXPECT_TRUE(orphans_.handle_segment(client, from_, segment(Flags::kRst | Flags::kAck, 1)));
  EXPECT_EQ(counters_[Counter::kOrphansGone], 1U);
}

TEST_F(OrphanedFlowsTest, AFlowIsListedOnItsLaneOnly) {
  int added = 0;
  for (std::uint8_t lane = 0; lane < 4; ++lane) {
    added += add(flow_of(40'000), ClientSide::kPeer, {.number = lane, .count = 4}) ? 1 : 0;
  }
  EXPECT_EQ(added, 1);
  EXPECT_EQ(counters_[Counter::kOrphansRefused], 3U);
}

TEST_F(OrphanedFlowsTest, ANewSynOrANewFlowTakesThePlace) {
  EXPECT_TRUE(add(flow_of(40'000), ClientSide::kPeer));
  EXPECT_FALSE(orphans_.handle_segment(server_, from_, segment(Flags::kSyn, 0)));
  EXPECT_EQ(orphans_.size(), 0U);
  EXPECT_TRUE(add(flow_of(40'000), ClientSide::kPeer));
  orphans_.forget(server_);
  EXPECT_EQ(orphans_.size(), 0U);
  EXPECT_FALSE(poll());
  EXPECT_FALSE(orphans_.handle_segment(server_, from_, segment(Flags::kAck, 1)));
}

TEST_F(OrphanedFlowsTest, AHostThatIsSilentIsAskedSevenTimesAndForgotten) {
  EXPECT_TRUE(add(flow_of(40'000), ClientSide::kPeer));
  int asked = 0;
  for (int second = 0; second <= 91; ++second) {
    while (poll()) ++asked;
    EXPECT_EQ(orphans_.size(), 1U) << second;
    pass(Duration::seconds(1));
  }
  pass(Duration::seconds(1));
  EXPECT_EQ(asked, 7);
  EXPECT_EQ(orphans_.size(), 0U);
  EXPECT_EQ(counters_[Counter::kOrphansSilent], 1U);
  EXPECT_TRUE(orphans_.next_timeout().is_never());
}

TEST_F(OrphanedFlowsTest, TheListDoesNotBringBackWhatTheJournalHadAndIsOver) {
  FlowJournal::Record record{server_, from_};
  std::swap(record.to_host.source, record.to_host.destination);
  const FlowJournal::Place place = journal_.keep(record);
  orphans_.recover(*journal_.read(place), place, now_);
  const auto syn = poll();
  ASSERT_TRUE(syn);
  EXPECT_EQ(syn->frame.ethernet.destination, kPeerMac) << "as the journal has it";
  EXPECT_TRUE(orphans_.handle_segment(server_, from_, segment(Flags::kRst | Flags::kAck, 1)));
  EXPECT_FALSE(journal_.read(place)) << "a second crash would not ask again";
  pass(Duration::seconds(2));
  EXPECT_TRUE(add(flow_of(40'000), ClientSide::kPeer));
  EXPECT_EQ(orphans_.size(), 0U);
  EXPECT_FALSE(poll());
  EXPECT_EQ(counters_[Counter::kFlowsOrphaned], 1U);
  EXPECT_FALSE(orphans_.handle_segment(server_, from_, segment(Flags::kAck, 1))) << "bridged";
  for (int second = 0; second < 120; ++second) {
    pass(Duration::seconds(1));
    EXPECT_FALSE(poll());
  }
  EXPECT_TRUE(orphans_.next_timeout().is_never());
}

TEST_F(OrphanedFlowsTest, NoMoreThanTheLimitAndNoneTwice) {
  for (const std::uint16_t port : {std::uint16_t{1}, std::uint16_t{2}, std::uint16_t{2}}) {
    EXPECT_TRUE(add(flow_of(port), ClientSide::kPeer)) << port;
  }
  EXPECT_EQ(orphans_.add(LaneAddress{}, flow_of(3), ClientSide::kPeer, now_), Listed::kNoRoom);
  EXPECT_EQ(orphans_.size(), 2U);
  EXPECT_EQ(counters_[Counter::kFlowsOrphaned], 2U);
}

// A peer may list flows of hosts that never existed.
TEST_F(OrphanedFlowsTest, APeerThatListsTooManyLeavesTheOthersTheirParts) {
  config::Gateway hub;
  for (const char* const prefix : {"203.0.113.0/24", "192.0.2.0/24"}) {
    hub.peers.emplace_back();
    hub.peers.back().prefixes = {*IpPrefix::parse(prefix)};
  }
  const Policy policy(hub);
  const Claims claims(hub, policy);
  constexpr std::uint16_t kMost = 100;
  OrphanedFlows orphans(kMost, 2, HashKey{1, 2}, journal_, lan_, claims, counters_);
  int greedy = 0, honest = 0;
  for (std::uint16_t port = 1; port <= 2 * kMost; ++port) {
    greedy += orphans.add({.peer = FarGatewayId(0)}, flow_of(port), ClientSide::kPeer, now_) ==
              Listed::kTaken;
  }
  for (std::uint16_t port = 1; port <= kMost; ++port) {
    OpenMetadata flow = flow_of(port);
    flow.client = ip_of("192.0.2.5");
    honest +=
        orphans.add({.peer = FarGatewayId(1)}, flow, ClientSide::kPeer, now_) == Listed::kTaken;
  }
  EXPECT_EQ(greedy, kMost * 3 / 4);
  EXPECT_EQ(honest, kMost / 4);
  FlowJournal::Record record{server_, from_};
  std::swap(record.to_host.source, record.to_host.destination);
  orphans.recover(record, journal_.keep(record), now_);
  EXPECT_EQ(orphans.size(), std::size_t{kMost + 1}) << "what the journal knows has its own room";
  for (int second = 0; second < 120; ++second) {
    while (orphans.poll_frame(buffer_, now_) > 0) continue;
    now_ += Duration::seconds(1);
    orphans.handle_timeout(now_);
  }
  EXPECT_EQ(orphans.add({.peer = FarGatewayId(1)}, flow_of(1), ClientSide::kPeer, now_),
            Listed::kRefused);
  EXPECT_EQ(orphans.add({.peer = FarGatewayId(0)}, flow_of(1), ClientSide::kPeer, now_),
            Listed::kTaken);
}

// Behind a router, the L2 header of the client's SYN says nothing about this LAN.
TEST_F(OrphanedFlowsTest, AServerBehindARouterIsLookedForOnItsLan) {
  const config::Gateway routed = test::gateway_config(
      {.subnet = "192.0.2.0/29"}, {test::peer_config("far", "192.0.2.130", {"203.0.113.0/24"})});
  const Policy policy(routed);
  LanNeighbours lan(routed, policy, HashKey{1, 2}, kGatewayMac, awaited_, counters_);
  lan.set_router(kGatewayMac);
  const Claims claims(routed, policy);
  OrphanedFlows orphans(2, 1, HashKey{1, 2}, journal_, lan, claims, counters_);
  ASSERT_EQ(orphans.add(LaneAddress{}, flow_of(40'000), ClientSide::kPeer, now_), Listed::kTaken);
  EXPECT_EQ(orphans.poll_frame(buffer_, now_), 0U);
  ASSERT_GT(lan.poll_frame(buffer_, now_), 0U) << "who has it?";
  wire::EthernetHeader back;
  back.source = kServerMac;
  back.destination = kGatewayMac;
  const FrameBytes answer = udp_frame("198.51.100.5", "203.0.113.5", 9, FrameBytes(8), back);
  ASSERT_TRUE(lan.learn_from_lan(look_at(answer), now_));
  EXPECT_EQ(orphans.poll_frame(buffer_, now_ + Duration::milliseconds(999)), 0U);
  const std::size_t size = orphans.poll_frame(buffer_, now_ + Duration::seconds(1));
  ASSERT_GT(size, 0U);
  const Frame frame = look_at(ConstBytes(buffer_).first(size));
  EXPECT_EQ(frame.ethernet.destination, kServerMac);
  EXPECT_EQ(frame.ethernet.source, kGatewayMac);
  EXPECT_EQ(wire::parse_tcp(frame.payload)->header.flags, Flags::kSyn);
}

}  // namespace
}  // namespace satrelay::gateway::orphaned_flows_test
