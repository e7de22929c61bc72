// The second of two workers of a gateway. The test decides what the peer sends on the worker's
// lane.
#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <optional>
#include <vector>

#include "pep/wire/arp.h"
#include "relay/gateway/frames/open_metadata.h"
#include "relay/gateway/steering/flow_hash.h"
#include "tests/fuzz/fuzz_peer.h"
#include "tests/unit/relay/gateway/gateway_fixture.h"

namespace satrelay::gateway::workers_test {
namespace {

constexpr std::uint16_t kLanePort = kStpPort + 1;
constexpr auto kOwn = "192.0.2.1";
constexpr auto kPeer = "192.0.2.2";

class WorkersTest : public GatewayTest {
 protected:
  void SetUp() override { start(2); }
  // `far`: the number of workers of the peer's gateway.
  void start(unsigned far) {
    config_a_.worker.count = 2;
    config_a_.peers[0].workers = far;
    a_ = std::make_unique<Gateway>(config_a_,
                                   Identity{.boot_epoch = 2,
                                            .secret = {1, 2},
                                            .wan_mac = kGatewayMac,
                                            .share = {.worker = 1, .workers = 2}},
                                   memory_a_, now_);
  }
  void meet() {
    a_->overhear(PortId::kWan, arp_reply(), now_);
    for (int i = 0; i < 40; ++i) exchange();
    ASSERT_EQ(a_->peers()[0].state, stp::PeerState::kAlive);
  }
  static FrameBytes arp_reply() {
    FrameBytes frame(60);
    wire::EthernetHeader header;
    header.source = kPeerMac;
    header.destination = kGatewayMac;
    header.type = wire::EtherType::kArp;
    wire::write_ethernet(header, frame);
    wire::write_arp({.operation = wire::ArpOperation::kReply,
                     .sender_mac = kPeerMac,
                     .sender = ip_of(kPeer),
                     .target_mac = kGatewayMac,
                     .target = ip_of(kOwn)},
                    MutableBytes(frame).subspan(header.size()));
    return frame;
  }
  void exchange() {
    now_ += Duration::milliseconds(100);
    if (a_->next_timeout() <= now_) a_->handle_timeout(now_);
    stp::Session& session = far_.session();
    if (session.next_timeout() <= now_) session.handle_timeout(now_);
    std::array<std::byte, 1472> packet{};
    while (const std::size_t size = session.poll_packet(packet, now_)) {
      say(ConstBytes(packet).first(size), kLanePort);
    }
    while (const auto event = session.poll_event()) {
      if (event->kind == stp::Event::Kind::kReset) reasons_.push_back(event->reason);
    }
    while (const auto frame = next_frame(PortId::kWan)) {
      const Frame seen = look_at(*frame);
      if (seen.kind != FrameKind::kUdp) continue;
      EXPECT_EQ(load_u16(seen.payload.data()), kLanePort);
      EXPECT_EQ(load_u16(seen.payload.data() + 2), kLanePort);
      session.handle_packet(seen.payload.subspan(wire::kUdpHeaderSize), now_);
    }
  }
  void say(ConstBytes packet, std::uint16_t port) {
    wan(stp_frame(packet, {kPeerMac, kGatewayMac, ip_of(kPeer), ip_of(kOwn), port}));
  }
  // A client port for which the flow belongs to `worker`.
  static std::uint16_t port_of(unsigned worker) {
    std::uint16_t port = 40'000;
    while ((flow_hash(ip_of(kServer), ip_of(kClient), port, 80) & 1U) != worker) ++port;
    return port;
  }
  // The peer opens a flow from a host behind it.
  void open(std::uint16_t client_port) {
    OpenMetadata open;
    open.ethernet = host_to_server();
    open.client = ip_of(kServer);
    open.server = ip_of(kClient);
    open.client_port = client_port;
    open.server_port = 80;
    open.options.mss = 1460;
    std::array<std::byte, kMaxOpenMetadata> bytes{};
    const std::size_t size = write_open_metadata(open, bytes);
    far_.open(ConstBytes(bytes).first(size), now_);
    exchange();
    exchange();
  }

  FuzzPeer far_{7,
                BitRate::bits_per_second(50'000'000),
                now_,
                FuzzPeer::Streams::kOdd,
                {.number = 1, .count = 2}};
  std::vector<stp::ResetReason> reasons_;
};

TEST_F(WorkersTest, HasItsLaneToThePeer) {
  meet();
  ASSERT_EQ(a_->peers().size(), 1U);
  EXPECT_EQ(a_->peers()[0].lane, 1);
  open(port_of(1));
  EXPECT_EQ(count(Counter::kFlowsFromPeer), 1U);
  EXPECT_TRUE(reasons_.empty());
}

TEST_F(WorkersTest, HasSeveralLanesToAPeerWithMoreWorkers) {
  start(8);
  ASSERT_EQ(a_->peers().size(), 4U);
  EXPECT_EQ(a_->peers()[3].lane, 7);
}

TEST_F(WorkersTest, AFlowOnALaneThatIsNotItsOwnIsRefused) {
  meet();
  open(port_of(0));
  EXPECT_EQ(count(Counter::kFlowsRefusedLane), 1U);
  EXPECT_EQ(count(Counter::kFlowsFromPeer), 0U);
  EXPECT_EQ(reasons_, std::vector{stp::ResetReason::kProtocolError});
  EXPECT_EQ(a_->flow_count(), 0U);
}

TEST_F(WorkersTest, WhatComesOnALaneOfAnotherWorkerIsDropped) {
  meet();
  const FrameBytes packet(40);
  say(packet, kStpPort);
  EXPECT_EQ(count(Counter::kDroppedStpUnknownLane), 1U);
  say(packet, kStpPort + 2);  // the gateway has two lanes
  EXPECT_EQ(count(Counter::kDroppedToGateway), 1U);
}

TEST_F(WorkersTest, APeerWithAnotherNumberOfLanesIsRefused) {
  start(4);
  a_->overhear(PortId::kWan, arp_reply(), now_);
  for (int i = 0; i < 20; ++i) {
    now_ += Duration::milliseconds(100);
    far_.session().handle_timeout(now_);
    std::array<std::byte, 1472> packet{};
    while (const std::size_t size = far_.session().poll_packet(packet, now_)) {
      say(ConstBytes(packet).first(size), kLanePort);
    }
  }
  EXPECT_EQ(a_->peers()[0].state, stp::PeerState::kRefused);
  EXPECT_GT(a_->peers()[0].counters.lanes_mismatch, 0U);
}

TEST_F(WorkersTest, ASegmentForAnotherWorkerBeginsNothing) {
  meet();
  std::uint16_t port = 40'000;
  while ((flow_hash(ip_of(kClient), ip_of(kServer), port, 80) & 1U) != 0) ++port;
  EXPECT_EQ(lan(tcp_frame(kClient, kServer, syn(port))), Verdict::kDrop);
  EXPECT_EQ(count(Counter::kDroppedOtherWorker), 1U);
  EXPECT_EQ(a_->flow_count(), 0U);
}

TEST_F(WorkersTest, WhatItOverhearsIsNotCountedOrAnswered) {
  a_->overhear(PortId::kWan, arp_reply(), now_);
  EXPECT_TRUE(a_->peers()[0].resolved);
  FrameBytes asks = arp_reply();
  store_u16(asks.data() + wire::kEthernetHeaderSize + 6, 1);
  a_->overhear(PortId::kWan, asks, now_);
  EXPECT_EQ(count(Counter::kWanFramesIn), 0U);
  EXPECT_EQ(count(Counter::kArpAnswered), 0U);
  while (const auto frame = next_frame(PortId::kWan)) {
    EXPECT_NE(look_at(*frame).kind, FrameKind::kArp);
  }
}

TEST_F(WorkersTest, IsOneOfThoseThatAreConfigured) {
  const auto make = [&](Share share) {
    return Gateway(config_a_, Identity{.boot_epoch = 2, .wan_mac = kGatewayMac, .share = share},
                   memory_a_, now_);
  };
  EXPECT_THROW(make({.worker = 0, .workers = 1}), std::invalid_argument);
  EXPECT_THROW(make({.worker = 2, .workers = 2}), std::invalid_argument);
  config_a_.peers[0].workers = 3;
  EXPECT_THROW(make({.worker = 0, .workers = 2}), std::invalid_argument);
}

}  // namespace
}  // namespace satrelay::gateway::workers_test
