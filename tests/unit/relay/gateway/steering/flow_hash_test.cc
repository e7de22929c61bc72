#include "relay/gateway/steering/flow_hash.h"

#include <gtest/gtest.h>

#include <array>
#include <random>
#include <set>
#include <span>
#include <vector>

namespace satrelay::gateway::flow_hash_test {
namespace {

// As Microsoft defines it ("RSS Hashing Functions"): for each bit of the input that is set, adds
// (XOR) the 32 bits of the key from that bit on.
std::uint32_t toeplitz(const std::vector<std::uint8_t>& input,
                       const std::vector<std::uint8_t>& key) {
  const auto bit_of = [](const std::vector<std::uint8_t>& bytes, std::size_t at) {
    return unsigned{bytes[at / 8]} >> (7 - at % 8) & 1U;
  };
  std::uint32_t hash = 0;
  for (std::size_t i = 0; i < 8 * input.size(); ++i) {
    if (bit_of(input, i) == 0) continue;
    std::uint32_t window = 0;
    for (std::size_t j = 0; j < 32; ++j) window = window << 1 | bit_of(key, i + j);
    hash ^= window;
  }
  return hash;
}

struct Tuple {
  IpAddress source, destination;
  std::uint16_t source_port, destination_port;
};

std::uint32_t reference(const Tuple& t) {
  std::vector<std::uint8_t> input;
  for (const IpAddress& address : {t.source, t.destination}) {
    const auto octets = std::span(address.octets()).first(address.size());
    input.insert(input.end(), octets.begin(), octets.end());
  }
  for (const std::uint16_t port : {t.source_port, t.destination_port}) {
    input.push_back(static_cast<std::uint8_t>(port >> 8));
    input.push_back(static_cast<std::uint8_t>(port));
  }
  std::vector<std::uint8_t> key;
  for (int i = 0; i < 26; ++i) key.insert(key.end(), {0x6d, 0x5a});
  return toeplitz(input, key);
}

std::uint32_t hash(const Tuple& t) {
  return flow_hash(t.source, t.destination, t.source_port, t.destination_port);
}

Tuple random_tuple(std::mt19937& random, IpVersion version) {
  const auto address = [&] {
    std::array<std::uint8_t, 16> o{};
    for (auto& octet : o) octet = static_cast<std::uint8_t>(random());
    return version == IpVersion::kV6 ? IpAddress::v6(o) : IpAddress::v4({o[0], o[1], o[2], o[3]});
  };
  const auto port = [&] { return static_cast<std::uint16_t>(random()); };
  return {address(), address(), port(), port()};
}

TEST(FlowHash, IsToeplitzWithTheSymmetricKey) {
  std::mt19937 random(1);
  for (int i = 0; i < 2'000; ++i) {
    for (const IpVersion version : {IpVersion::kV4, IpVersion::kV6}) {
      const Tuple tuple = random_tuple(random, version);
      ASSERT_EQ(hash(tuple), reference(tuple));
    }
  }
}

TEST(FlowHash, TheReferenceIsThatOfMicrosoft) {
  // From "Verifying the RSS Hash Calculation": 66.9.149.187:2794 to 161.142.100.80:1766.
  const std::vector<std::uint8_t> key{0x6d, 0x5a, 0x56, 0xda, 0x25, 0x5b, 0x0e, 0xc2, 0x41, 0x67,
                                      0x25, 0x3d, 0x43, 0xa3, 0x8f, 0xb0, 0xd0, 0xca, 0x2b, 0xcb,
                                      0xae, 0x7b, 0x30, 0xb4, 0x77, 0xcb, 0x2d, 0xa3, 0x80, 0x30,
                                      0xf2, 0x0c, 0x6a, 0x42, 0xb7, 0x3b, 0xbe, 0xac, 0x01, 0xfa};
  const std::vector<std::uint8_t> input{66, 9, 149, 187, 161, 142, 100, 80, 0x0a, 0xea, 0x06, 0xe6};
  EXPECT_EQ(toeplitz(input, key), 0x51ccc178U);
}

TEST(FlowHash, IsTheSameForBothDirections) {
  std::mt19937 random(2);
  for (int i = 0; i < 1'000; ++i) {
    const Tuple t = random_tuple(random, i % 2 == 0 ? IpVersion::kV4 : IpVersion::kV6);
    ASSERT_EQ(hash(t), flow_hash(t.destination, t.source, t.destination_port, t.source_port));
  }
}

TEST(FlowHash, PortsThatFollowEachOtherAreSpreadEvenly) {
  const IpAddress client = *IpAddress::parse("198.51.100.7");
  const IpAddress server = *IpAddress::parse("203.0.113.9");
  std::array<int, 16> flows{};
  for (unsigned port = 32768; port < 32768 + 1600; ++port) {
    ++flows[flow_hash(client, server, static_cast<std::uint16_t>(port), 443) & 15U];
  }
  for (const int count : flows) EXPECT_NEAR(count, 100, 10);
}

TEST(FlowHash, MapsNoTwoSumsToOneValue) {
  std::set<std::uint32_t> seen;
  for (unsigned port = 0; port < 65'536; ++port) {
    seen.insert(flow_hash(IpAddress(), IpAddress(), static_cast<std::uint16_t>(port), 0));
  }
  EXPECT_EQ(seen.size(), 65'536U);
}

}  // namespace
}  // namespace satrelay::gateway::flow_hash_test
