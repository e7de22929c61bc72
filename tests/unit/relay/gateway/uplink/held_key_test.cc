// Among whom a bridged packet takes its turn.
#include "relay/gateway/uplink/held_key.h"

#include <gtest/gtest.h>

#include "tests/unit/relay/gateway/gateway_fixture.h"

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

TEST(HeldKey, WhatIsNotIpIsOfOneHost) {
  EXPECT_EQ(held_key(kKey, config::FairHosts::kLocal, 1, look_at(FrameBytes(60))).host, 0U);
}

}  // namespace
}  // namespace satrelay::gateway::held_key_test
