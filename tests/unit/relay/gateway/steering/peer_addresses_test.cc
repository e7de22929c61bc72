// The peer of an address is found in a few steps, however many peers there are.
#include "relay/gateway/steering/peer_addresses.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace satrelay::gateway::peer_addresses_test {
namespace {

IpAddress numbered(std::uint8_t first, std::size_t i) {
  return IpAddress::v4({first, static_cast<std::uint8_t>(i >> 16),
                        static_cast<std::uint8_t>(i >> 8), static_cast<std::uint8_t>(i)});
}

std::vector<config::Peer> peers_of(std::size_t count) {
  std::vector<config::Peer> peers(count);
  for (std::size_t i = 0; i < count; ++i) peers[i].address = numbered(10, i);
  return peers;
}

TEST(PeerAddressesTest, EachIsFoundAndNobodyElse) {
  for (const std::size_t count : {0U, 1U, 8U, 9U, 300U, 1'000U}) {
    const PeerAddresses addresses(peers_of(count), {1, 2});
    for (std::size_t i = 0; i < count; ++i)
      EXPECT_EQ(addresses.find(numbered(10, i)), FarGatewayId(i));
    for (std::size_t i = 0; i < 1'000; ++i) EXPECT_FALSE(addresses.find(numbered(11, i)));
    EXPECT_FALSE(addresses.find(numbered(10, count)));
  }
}

// This holds for addresses of strangers, too.
TEST(PeerAddressesTest, ItTakesAFewSteps) {
  const PeerAddresses addresses(peers_of(300), {1, 2});
  std::size_t most = 0, all = 0;
  constexpr std::size_t kStrangers = 100'000;
  for (std::size_t i = 0; i < kStrangers; ++i) {
    const std::size_t steps = addresses.steps(numbered(11, i));
    most = std::max(most, steps);
    all += steps;
  }
  EXPECT_LE(most, 16U);
  EXPECT_LE(all, kStrangers * 3 / 2);
  for (std::size_t i = 0; i < 300; ++i) EXPECT_LE(addresses.steps(numbered(10, i)), 16U);
}

// A stranger may learn which addresses take long with one key. That tells nothing about another
// key.
TEST(PeerAddressesTest, TheHashIsKeyed) {
  const std::vector<config::Peer> peers = peers_of(300);
  const PeerAddresses one(peers, {1, 2}), other(peers, {3, 4});
  std::vector<IpAddress> slow;
  for (std::size_t i = 0; i < 100'000; ++i) {
    if (one.steps(numbered(11, i)) >= 4) slow.push_back(numbered(11, i));
  }
  ASSERT_GT(slow.size(), 100U);
  const auto slow_too = std::ranges::count_if(
      slow, [&](const IpAddress& address) { return other.steps(address) >= 4; });
  EXPECT_LE(static_cast<std::size_t>(slow_too), slow.size() / 4);
}

}  // namespace
}  // namespace satrelay::gateway::peer_addresses_test
