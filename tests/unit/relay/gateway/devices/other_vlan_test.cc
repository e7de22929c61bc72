// A server answers in another VLAN than the one in which it is asked, as with private VLANs. The
// gateways bridge such connections.
#include <gtest/gtest.h>

#include <optional>

#include "pep/wire/tcp.h"
#include "relay/gateway/frames/flow_key.h"
#include "relay/gateway/frames/frame.h"
#include "tests/unit/relay/gateway/gateway_fixture.h"

namespace satrelay::gateway::other_vlan_test {
namespace {

using Flags = wire::TcpFlags;

constexpr std::uint16_t kAsked = 101;
constexpr std::uint16_t kAnswered = 100;

wire::EthernetHeader tagged(wire::EthernetHeader header, std::uint16_t vlan) {
  if (vlan == 0) return header;
  header.tag_count = 1;
  header.tags[0] = {0x8100, vlan};
  return header;
}

class OtherVlan : public GatewayTest {
 protected:
  struct Taken {
    wire::TcpHeader tcp;
    std::uint16_t vlan = 0;
  };
  std::optional<Taken> take(Gateway& gateway, std::uint8_t flags) {
    FrameBytes bytes(gateway.max_frame_size());
    while (const std::size_t size = gateway.poll_frame(PortId::kLan, bytes, now_).size) {
      const Frame frame = look_at(ConstBytes(bytes).first(size));
      const auto tcp = wire::parse_tcp(frame.payload);
      if (tcp && (tcp->header.flags & flags) != 0) {
        return Taken{tcp->header, vlans_of(frame.ethernet)[0]};
      }
    }
    return std::nullopt;
  }
  Verdict ask(std::uint16_t port, const char* server = kServer) {
    return lan(tcp_frame(kClient, server, syn(port), tagged(host_to_server(), kAsked)));
  }
  // The server's answer to `asked`, in the VLAN `vlan`.
  Verdict answer(const wire::TcpHeader& asked, std::uint8_t flags, std::uint16_t vlan,
                 const char* server = kServer, std::uint32_t off = 0) {
    wire::TcpHeader tcp;
    tcp.source_port = asked.destination_port;
    tcp.destination_port = asked.source_port;
    tcp.sequence = (flags & Flags::kRst) != 0 ? 0 : 9'000;
    tcp.acknowledgment = asked.sequence + 1 + off;
    tcp.flags = flags;
    tcp.window = 64'240;
    return b_->handle_frame(
        PortId::kLan, tcp_frame(server, kClient, tcp, tagged(host_to_server().reversed(), vlan)),
        now_);
  }
  // Opens a connection that the client's gateway answers. Returns the SYN that the server gets.
  wire::TcpHeader open(std::uint16_t port, const char* server = kServer) {
    EXPECT_EQ(ask(port, server), Verdict::kConsumed);
    const auto local = take(*a_, Flags::kSyn);
    if (local) {
      wire::TcpHeader ack = syn(port);
      ack.flags = Flags::kAck;
      ++ack.sequence;
      ack.acknowledgment = local->tcp.sequence + 1;
      lan(tcp_frame(kClient, server, ack, tagged(host_to_server(), kAsked)));
    }
    step();
    const auto asked = take(*b_, Flags::kSyn);
    EXPECT_TRUE(asked);
    return asked ? asked->tcp : wire::TcpHeader();
  }
  void settle() {
    for (int i = 0; i < 3; ++i) step();
  }
  std::uint64_t far_count(Counter counter) const { return b_->counters()[counter]; }
};

TEST_F(OtherVlan, TheFirstConnectionIsResetAndTheNextOnesAreBridged) {
  start_peer();
  const wire::TcpHeader asked = open(40'000);
  EXPECT_EQ(answer(asked, Flags::kSyn | Flags::kAck, kAnswered), Verdict::kDrop);
  const auto to_server = take(*b_, Flags::kRst);
  ASSERT_TRUE(to_server);
  EXPECT_EQ(to_server->tcp.sequence, asked.sequence + 1);
  EXPECT_EQ(to_server->vlan, kAsked) << "where the server hears";
  settle();
  EXPECT_TRUE(take(*a_, Flags::kRst));
  EXPECT_EQ(count(Counter::kFlowsOtherVlan), 1U);
  EXPECT_EQ(far_count(Counter::kFlowsOtherVlan), 1U);
  EXPECT_EQ(far_count(Counter::kDroppedOtherVlan), 1U);
  EXPECT_EQ(count(Counter::kServicesRefusing), 0U) << "it did not refuse";
  EXPECT_EQ(ask(40'001), Verdict::kBridge);
  EXPECT_EQ(count(Counter::kBridgedOtherVlan), 1U);
  EXPECT_EQ(ask(40'002, "198.51.100.6"), Verdict::kConsumed) << "another server";
}

TEST_F(OtherVlan, UntaggedIsAnotherVlanToo) {
  start_peer();
  EXPECT_EQ(answer(open(40'000), Flags::kSyn | Flags::kAck, 0), Verdict::kDrop);
  settle();
  EXPECT_EQ(ask(40'001), Verdict::kBridge);
}

TEST_F(OtherVlan, ThreeServersTellOfAllOfThatVlan) {
  start_peer();
  std::uint16_t port = 40'000;
  for (const char* server : {"198.51.100.1", "198.51.100.2", "198.51.100.3"}) {
    answer(open(++port, server), Flags::kSyn | Flags::kAck, kAnswered, server);
    settle();
  }
  EXPECT_EQ(ask(41'000, "198.51.100.9"), Verdict::kBridge);
  EXPECT_EQ(lan(tcp_frame(kClient, "198.51.100.9", syn(41'001))), Verdict::kConsumed)
      << "untagged, it is another one";
}

TEST_F(OtherVlan, WithARemoteHandshakeTheClientsNextSynIsBridged) {
  config_a_.rules.back().modes.handshake = config::HandshakeMode::kRemote;
  a_ = std::make_unique<Gateway>(
      config_a_, Identity{.boot_epoch = 2, .secret = {1, 2}, .wan_mac = kGatewayMac}, memory_a_,
      now_);
  start_peer();
  answer(open(40'000), Flags::kSyn | Flags::kAck, kAnswered);
  settle();
  EXPECT_FALSE(take(*a_, Flags::kRst)) << "it has not been answered";
  EXPECT_EQ(ask(40'000), Verdict::kBridge);
}

TEST_F(OtherVlan, ARefusalInAnotherVlanIsOne) {
  start_peer();
  EXPECT_EQ(answer(open(40'000), Flags::kRst | Flags::kAck, kAnswered), Verdict::kDrop);
  settle();
  EXPECT_TRUE(take(*a_, Flags::kRst));
  EXPECT_EQ(count(Counter::kFlowsRefused), 1U);
  EXPECT_EQ(count(Counter::kFlowsOtherVlan), 0U);
}

// Another network may have the same addresses, and a forger does not know the sequence number.
TEST_F(OtherVlan, WhoDoesNotKnowTheSynDisturbsNothing) {
  start_peer();
  const wire::TcpHeader asked = open(40'000);
  EXPECT_EQ(answer(asked, Flags::kSyn | Flags::kAck, kAnswered, kServer, 1), Verdict::kBridge);
  EXPECT_EQ(answer(asked, Flags::kAck, kAnswered), Verdict::kBridge) << "no SYN";
  EXPECT_EQ(answer(asked, Flags::kSyn | Flags::kAck, kAsked), Verdict::kConsumed);
  settle();
  EXPECT_EQ(far_count(Counter::kFlowsOtherVlan), 0U);
  EXPECT_EQ(b_->flow_count(), 1U);
  EXPECT_EQ(answer(asked, Flags::kSyn | Flags::kAck, kAnswered), Verdict::kBridge)
      << "it has been answered";
}

}  // namespace
}  // namespace satrelay::gateway::other_vlan_test
