// The gateway computes the same hash of a flow as network cards do for Receive Side Scaling.
#include "relay/gateway/steering/flow_hash.h"

#include <gtest/gtest.h>
#include <rte_thash.h>

#include <array>
#include <cstring>
#include <random>

namespace satrelay::dpdk::flow_hash_test {
namespace {

// The tuple is as rte_softrss() wants it: 32-bit words in the host's order, with both ports in one
// word.
template <std::size_t kWords>
std::uint32_t of_card(const IpAddress& source, const IpAddress& destination, std::uint16_t from,
                      std::uint16_t to) {
  std::array<std::uint32_t, kWords> tuple{};
  std::size_t at = 0;
  for (const IpAddress& address : {source, destination}) {
    for (std::size_t i = 0; i < address.size(); i += 4) {
      for (std::size_t j = 0; j < 4; ++j) tuple[at] = tuple[at] << 8 | address.octets()[i + j];
      ++at;
    }
  }
  tuple[at] = std::uint32_t{from} << 16 | to;
  std::array<std::uint8_t, 40> key{};
  for (std::size_t i = 0; i < key.size(); i += 2) {
    key[i] = gateway::kFlowHashKey >> 8;
    key[i + 1] = gateway::kFlowHashKey & 0xff;
  }
  return rte_softrss(tuple.data(), kWords, key.data());
}

TEST(FlowHash, IsThatOfNetworkCards) {
  std::mt19937 random(3);
  for (int i = 0; i < 1'000; ++i) {
    std::array<std::array<std::uint8_t, 16>, 2> o{};
    for (auto& address : o) {
      for (auto& octet : address) octet = static_cast<std::uint8_t>(random());
    }
    const auto from = static_cast<std::uint16_t>(random());
    const auto to = static_cast<std::uint16_t>(random());
    const auto v4 = [&](std::size_t which) {
      return IpAddress::v4({o[which][0], o[which][1], o[which][2], o[which][3]});
    };
    ASSERT_EQ(gateway::flow_hash(v4(0), v4(1), from, to), of_card<3>(v4(0), v4(1), from, to));
    const IpAddress a = IpAddress::v6(o[0]), b = IpAddress::v6(o[1]);
    ASSERT_EQ(gateway::flow_hash(a, b, from, to), of_card<9>(a, b, from, to));
  }
}

}  // namespace
}  // namespace satrelay::dpdk::flow_hash_test
