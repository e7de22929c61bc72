// The host and the flow by which a bridged packet takes its turn.
#include "relay/gateway/uplink/held_key.h"

#include <gtest/gtest.h>

#include "tests/unit/relay/gateway/gateway_fixture.h"
#include "tests/unit/relay/gateway/tunnel_frames.h"

namespace satrelay::gateway::held_key_test {
namespace {

constexpr HashKey kKey{1, 2};
constexpr auto kNeighbour = "203.0.113.6";
constexpr auto kOtherServer = "198.51.100.6";

HeldKey key_of(const char* from, const char* to, std::uint16_t port,
               config::FairHosts fair = config::FairHosts::kLocal) {
  const FrameBytes bytes = udp_frame(from, to, port, FrameBytes(20));
  return held_key(kKey, fair, 3, look_at(bytes));
}

TEST(HeldKey, AHostIsOneWhomeverItSpeaksTo) {
  const HeldKey key = key_of(kClient, kServer, 53);
  EXPECT_EQ(key.traffic_class, 3);
  EXPECT_EQ(key_of(kClient, kOtherServer, 80).host, key.host);
  EXPECT_NE(key_of(kNeighbour, kServer, 53).host, key.host);
}

TEST(HeldKey, TheHostMayBeTheFarOne) {
  const auto remote = config::FairHosts::kRemote;
  const HeldKey key = key_of(kClient, kServer, 53, remote);
  EXPECT_EQ(key_of(kNeighbour, kServer, 80, remote).host, key.host);
  EXPECT_NE(key_of(kClient, kOtherServer, 53, remote).host, key.host);
  EXPECT_EQ(key_of(kServer, kClient, 53).host, key.host) << "the same address, the same host";
}

TEST(HeldKey, AFlowHasItsPorts) {
  const HeldKey key = key_of(kClient, kServer, 53);
  EXPECT_EQ(key_of(kClient, kServer, 53).flow, key.flow);
  EXPECT_NE(key_of(kClient, kServer, 54).flow, key.flow);
  EXPECT_NE(key_of(kClient, kOtherServer, 53).flow, key.flow);
}

HeldKey key_of(const FrameBytes& frame) {
  return held_key(kKey, config::FairHosts::kLocal, 1, look_at(frame));
}

// The same frame with another source.
FrameBytes from_another(FrameBytes frame) {
  frame[11] ^= std::byte{1};
  return frame;
}

TEST(HeldKey, APppoeSessionIsAHost) {
  const HeldKey key = key_of(pppoe_frame(7, 0x21, FrameBytes(20)));
  EXPECT_EQ(key_of(pppoe_frame(7, 0x57, FrameBytes(30))).host, key.host);
  EXPECT_EQ(key_of(pppoe_frame(7, 0x57, FrameBytes(30))).flow, key.flow);
  EXPECT_NE(key_of(pppoe_frame(8, 0x21, FrameBytes(20))).host, key.host);
  EXPECT_NE(key_of(from_another(pppoe_frame(7, 0x21, FrameBytes(20)))).host, key.host);
}

TEST(HeldKey, AStackOfLabelsIsAHost) {
  const FrameBytes plain = udp_frame(kClient, kServer, 53, FrameBytes(20));
  const FrameBytes other = udp_frame(kClient, kOtherServer, 80, FrameBytes(20));
  const HeldKey key = key_of(mpls_frame({16, 17}, plain));
  EXPECT_EQ(key_of(mpls_frame({16, 17}, other)).host, key.host);
  EXPECT_NE(key_of(mpls_frame({16, 18}, plain)).host, key.host);
  EXPECT_NE(key_of(mpls_frame({16}, plain)).host, key.host);
  EXPECT_NE(key_of(from_another(mpls_frame({16, 17}, plain))).host, key.host);
}

TEST(HeldKey, WhatElseIsNotIpIsOfTheHostsThatItsMacsName) {
  const HeldKey key = key_of(ethernet_frame(0x88b5, FrameBytes(20)));
  EXPECT_EQ(key_of(ethernet_frame(0x88b6, FrameBytes(30))).host, key.host);
  EXPECT_NE(key_of(from_another(ethernet_frame(0x88b5, FrameBytes(20)))).host, key.host);
  EXPECT_NE(key.host, 0U);
}

}  // namespace
}  // namespace satrelay::gateway::held_key_test
