#include "relay/gateway/peers/far_gateway.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <vector>

#include "tests/unit/relay/gateway/frame_builder.h"

namespace satrelay::gateway::far_gateway_test {
namespace {

TEST(FarGatewayTest, KeepsNoKeysButKnowsThatThereAreSome) {
  config::Peer config{
      .name = "far", .address = ip_of("192.0.2.2"), .prefixes = {}, .links = {"sat"}};
  Secret<config::kPskSize> key;
  std::ranges::fill(key.bytes(), std::byte{0x5a});
  config.security.keys = config::PresharedKeys{.current = key, .other = {}};
  std::vector<std::byte> memory(1U << 16);
  Arena arena(memory, 4096);
  const FarGateway peer(config, {LinkId()}, {LaneId(), LaneId(1)}, arena, {});
  ASSERT_TRUE(peer.config.security.keys);
  for (const std::byte each : peer.config.security.keys->current.bytes()) {
    EXPECT_EQ(each, std::byte{0});
  }
}

}  // namespace
}  // namespace satrelay::gateway::far_gateway_test
