// Frames between two hosts of one LAN, which a switch floods to the gateway's port.
#include <gtest/gtest.h>

#include <memory>

#include "pep/wire/arp.h"
#include "relay/gateway/addresses/common_knowledge.h"
#include "tests/unit/relay/gateway/gateway_fixture.h"

namespace satrelay::gateway::own_side_test {
namespace {

constexpr auto kNeighbour = "203.0.113.9";
constexpr MacAddress kNeighbourMac{{2, 0, 0, 0, 0, 9}};

wire::EthernetHeader between(const MacAddress& source, const MacAddress& destination,
                             std::uint16_t vlan = 0) {
  wire::EthernetHeader header;
  header.source = source;
  header.destination = destination;
  if (vlan != 0) header.tags[header.tag_count++] = {.tpid = 0x8100, .tci = vlan};
  return header;
}

FrameBytes raw_frame(wire::EthernetHeader header, wire::EtherType type) {
  header.type = type;
  FrameBytes frame(60);
  wire::write_ethernet(header, frame);
  return frame;
}

FrameBytes arp_question(const wire::EthernetHeader& header, std::string_view target) {
  FrameBytes frame = raw_frame(header, wire::EtherType::kArp);
  wire::write_arp({.operation = wire::ArpOperation::kRequest,
                   .sender_mac = header.source,
                   .sender = ip_of(kClient),
                   .target_mac = {},
                   .target = ip_of(target)},
                  MutableBytes(frame).subspan(header.size()));
  return frame;
}

class OwnSide : public GatewayTest {
 protected:
  static constexpr wire::EthernetHeader kToNeighbour = {
      .destination = kNeighbourMac, .source = kHostMac, .tags = {}, .tag_count = 0, .type = {}};

  FrameBytes datagram(const wire::EthernetHeader& header, std::string_view to = kNeighbour) const {
    return udp_frame(kClient, to, 5000, FrameBytes(20), header);
  }
  // The content does not matter. Here it is an ARP question to all.
  void neighbour_speaks(std::uint16_t vlan = 0) {
    const auto header = between(kNeighbourMac, MacAddress::broadcast(), vlan);
    EXPECT_EQ(lan(arp_question(header, kNeighbour)), Verdict::kBridge);
  }
  bool is_filtered(const FrameBytes& frame) {
    const std::uint64_t before = count(Counter::kFilteredOwnSide);
    const Verdict verdict = lan(frame);
    EXPECT_EQ(verdict == Verdict::kDrop, count(Counter::kFilteredOwnSide) > before);
    return verdict == Verdict::kDrop;
  }
};

TEST_F(OwnSide, AFrameToAHostOfTheLanStaysThere) {
  start_peer();
  EXPECT_FALSE(is_filtered(datagram(kToNeighbour))) << "who was not heard may be anywhere";
  neighbour_speaks();
  EXPECT_TRUE(is_filtered(datagram(kToNeighbour)));
  EXPECT_TRUE(is_filtered(tcp_frame(kClient, kNeighbour, syn(), kToNeighbour)));
  EXPECT_TRUE(is_filtered(arp_question(kToNeighbour, kNeighbour)));
  EXPECT_TRUE(is_filtered(raw_frame(kToNeighbour, wire::EtherType::kPppoeSession)));
  EXPECT_FALSE(is_filtered(datagram(between(kHostMac, MacAddress::broadcast()))));
  EXPECT_FALSE(is_filtered(datagram(host_to_server()))) << "another one";
  EXPECT_FALSE(next_frame(PortId::kLan)) << "the SYN was answered";
  EXPECT_EQ(count(Counter::kStationsOnBothSides), 0U);
}

TEST_F(OwnSide, AHostOfTheLanIsForgottenAfterFiveMinutes) {
  neighbour_speaks();
  now_ += Duration::seconds(299);
  EXPECT_TRUE(is_filtered(datagram(kToNeighbour)));
  now_ += Duration::seconds(1);
  EXPECT_FALSE(is_filtered(datagram(kToNeighbour)));
  neighbour_speaks();
  EXPECT_TRUE(is_filtered(datagram(kToNeighbour)));
}

TEST_F(OwnSide, AHostIsInItsVlan) {
  neighbour_speaks(7);
  EXPECT_FALSE(is_filtered(datagram(kToNeighbour)));
  EXPECT_FALSE(is_filtered(datagram(between(kHostMac, kNeighbourMac, 8))));
  EXPECT_TRUE(is_filtered(datagram(between(kHostMac, kNeighbourMac, 7))));
  EXPECT_TRUE(is_filtered(datagram(between(kHostMac, kNeighbourMac, 0x2007))))
      << "whatever its priority";
  wire::EthernetHeader inner = between(kHostMac, kNeighbourMac, 7);
  inner.tags[inner.tag_count++] = {.tpid = 0x8100, .tci = 7};
  EXPECT_FALSE(is_filtered(datagram(inner))) << "all tags count";
}

TEST_F(OwnSide, AHostThatIsHeardOnBothSidesIsNotFilteredAndIsTold) {
  neighbour_speaks();
  EXPECT_EQ(wan(datagram(between(kNeighbourMac, kHostMac))), Verdict::kBridge);
  EXPECT_EQ(count(Counter::kStationsOnBothSides), 1U);
  EXPECT_FALSE(is_filtered(datagram(kToNeighbour)));
  now_ += Duration::seconds(200);
  neighbour_speaks();
  EXPECT_FALSE(is_filtered(datagram(kToNeighbour)));
  EXPECT_EQ(count(Counter::kStationsOnBothSides), 1U) << "that is known";
  now_ += Duration::seconds(101);
  EXPECT_TRUE(is_filtered(datagram(kToNeighbour))) << "it has moved here";
}

TEST_F(OwnSide, AnAddressBehindAPeerIsNeverFiltered) {
  neighbour_speaks();
  EXPECT_FALSE(is_filtered(datagram(kToNeighbour, kServer)));
  EXPECT_FALSE(is_filtered(tcp_frame(kClient, kServer, syn(), kToNeighbour)));
  EXPECT_FALSE(is_filtered(arp_question(kToNeighbour, kServer)));
}

// The host's frames end at the far gateway, so the WAN never shows where the host is.
TEST_F(OwnSide, AHostThatAPeerTellsOfIsHeardOnTheWan) {
  config_b_.rules.back().modes.handshake = config::HandshakeMode::kRemote;
  start_peer();
  // A station of the LAN sends with the host's MAC.
  const auto forge = [&] {
    EXPECT_EQ(lan(arp_question(between(kServerMac, MacAddress::broadcast()), kNeighbour)),
              Verdict::kBridge);
  };
  const auto to_server = datagram(between(kHostMac, kServerMac));
  forge();
  EXPECT_TRUE(is_filtered(to_server));
  EXPECT_EQ(
      b_->handle_frame(PortId::kLan,
                       tcp_frame(kServer, kClient, syn(), between(kServerMac, kHostMac)), now_),
      Verdict::kConsumed);
  step();
  EXPECT_EQ(count(Counter::kFlowsFromPeer), 1U);
  EXPECT_EQ(count(Counter::kStationsOnBothSides), 1U);
  EXPECT_FALSE(is_filtered(to_server));
  now_ += Duration::seconds(301);
  forge();
  EXPECT_TRUE(is_filtered(to_server));
}

TEST_F(OwnSide, TheGatewayIsNoHost) {
  // A loop brings back a frame of the gateway.
  EXPECT_EQ(lan(arp_question(between(kGatewayMac, MacAddress::broadcast()), kNeighbour)),
            Verdict::kBridge);
  EXPECT_FALSE(is_filtered(datagram(between(kHostMac, kGatewayMac))));
}

TEST_F(OwnSide, WorkersHearTogether) {
  const auto common = std::make_shared<CommonKnowledge>(HashKey{1, 2}, config_a_.peers.size());
  config_a_.worker.count = 2;
  std::array<std::unique_ptr<Gateway>, 2> workers;
  for (unsigned i = 0; i < 2; ++i) {
    workers[i] = std::make_unique<Gateway>(config_a_,
                                           Identity{.boot_epoch = 2,
                                                    .secret = {1, 2},
                                                    .wan_mac = kGatewayMac,
                                                    .common = common,
                                                    .share = {.worker = i, .workers = 2}},
                                           i == 0 ? memory_a_ : memory_b_, now_);
  }
  workers[0]->handle_frame(
      PortId::kLan, arp_question(between(kNeighbourMac, MacAddress::broadcast()), kNeighbour),
      now_);
  EXPECT_EQ(workers[1]->handle_frame(PortId::kLan, datagram(kToNeighbour), now_), Verdict::kDrop);
  EXPECT_EQ(workers[1]->counters()[Counter::kFilteredOwnSide], 1U);
}

}  // namespace
}  // namespace satrelay::gateway::own_side_test
