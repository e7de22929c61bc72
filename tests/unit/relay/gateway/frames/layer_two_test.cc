// Which frames that are not IP keep the network together, and which have an IP packet inside.
#include "relay/gateway/frames/layer_two.h"

#include <gtest/gtest.h>

#include <array>

#include "tests/unit/relay/gateway/gateway_fixture.h"
#include "tests/unit/relay/gateway/tunnel_frames.h"

namespace satrelay::gateway::layer_two_test {
namespace {

bool is_control(const FrameBytes& frame) { return is_link_control(look_at(frame)); }

FrameBytes to_group(std::uint64_t group, std::uint16_t type = 38) {
  FrameBytes frame = ethernet_frame(type, FrameBytes(46));
  for (std::size_t i = 0; i < 6; ++i) frame[i] = static_cast<std::byte>(group >> (40 - 8 * i));
  return frame;
}

FrameBytes icmp_v6(std::uint8_t type, std::uint8_t hop_limit) {
  wire::IpHeader ip;
  ip.source = ip_of("fe80::1");
  ip.destination = ip_of("ff02::1:ff00:5");
  ip.protocol = wire::kProtocolIcmpV6;
  ip.hop_limit = hop_limit;
  FrameBytes message(24);
  message[0] = static_cast<std::byte>(type);
  return ip_frame(host_to_server(), ip, message);
}

TEST(LinkControl, IsWhatKeepsTheNetworkTogether) {
  constexpr std::array<std::uint16_t, 6> kTypes{0x0806, 0x8809, 0x888e, 0x88cc, 0x8902, 0x8863};
  for (const std::uint16_t type : kTypes) {
    EXPECT_TRUE(is_control(ethernet_frame(type, FrameBytes(46)))) << std::hex << type;
    EXPECT_TRUE(is_control(ethernet_frame(type, FrameBytes(46), 100))) << "with a tag";
  }
  EXPECT_TRUE(is_control(to_group(0x0180c2000000))) << "STP";
  EXPECT_TRUE(is_control(to_group(0x0180c200000e)));
  EXPECT_TRUE(is_control(to_group(0x0180c2000021))) << "MVRP";
  EXPECT_TRUE(is_control(to_group(0x01000ccccccd))) << "STP of each VLAN";
  EXPECT_TRUE(is_control(icmp_v6(135, 255)));
  EXPECT_TRUE(is_control(icmp_v6(136, 255)));
}

TEST(LinkControl, IsNothingElse) {
  EXPECT_FALSE(is_control(ethernet_frame(0x8847, FrameBytes(46))));
  EXPECT_FALSE(is_control(ethernet_frame(0x88b5, FrameBytes(46))));
  EXPECT_FALSE(is_control(to_group(0x0180c2000100)));
  EXPECT_FALSE(is_control(to_group(0x01005e000001))) << "multicast";
  EXPECT_FALSE(is_control(icmp_v6(128, 255))) << "a ping";
  EXPECT_FALSE(is_control(icmp_v6(135, 64))) << "of no neighbour";
  EXPECT_FALSE(is_control(udp_frame(kClient, kServer, 53, FrameBytes(20))));
  EXPECT_FALSE(is_control(FrameBytes(9)));
}

TEST(LinkControl, OfPppIsWhatIsNoPacketOfAProtocol) {
  for (const unsigned protocol : {0xc021U, 0xc223U, 0x8021U, 0x8057U}) {
    EXPECT_TRUE(is_control(pppoe_frame(7, protocol, FrameBytes(10)))) << protocol;
  }
  for (const unsigned protocol : {0x0021U, 0x0057U, 0x00fdU}) {
    EXPECT_FALSE(is_control(pppoe_frame(7, protocol, FrameBytes(10)))) << protocol;
  }
  FrameBytes cut = pppoe_frame(7, 0xc021, FrameBytes(10));
  cut.resize(cut.size() - 1);
  EXPECT_FALSE(is_control(cut));
}

TEST(LookInside, ShowsThePacketBehindTheHeadersOfTheFrame) {
  const FrameBytes plain = udp_frame(kClient, kServer, 53, FrameBytes(20));
  for (const FrameBytes& frame : {pppoe_frame(7, 0x21, packet_of(plain)), mpls_frame({16}, plain),
                                  mpls_frame({16, 17, 18}, plain)}) {
    const Frame outer = look_at(frame);
    EXPECT_EQ(outer.kind, FrameKind::kNotIp);
    const auto inner = look_inside(outer);
    ASSERT_TRUE(inner);
    EXPECT_EQ(inner->kind, FrameKind::kUdp);
    EXPECT_EQ(inner->ip.destination, ip_of(kServer));
    EXPECT_EQ(inner->ethernet.destination, kServerMac);
    EXPECT_EQ(inner->payload.size(), 28U);
  }
  EXPECT_FALSE(look_inside(look_at(plain)));
  EXPECT_FALSE(look_inside(look_at(mpls_frame({16, 17, 18, 19}, plain))));
  EXPECT_FALSE(look_inside(look_at(ethernet_frame(0x88b5, packet_of(plain)))));
}

}  // namespace
}  // namespace satrelay::gateway::layer_two_test
