#include "relay/gateway/frames/keyed_hash.h"

#include <gtest/gtest.h>

#include <array>
#include <set>

namespace satrelay::gateway::keyed_hash_test {
namespace {

// The vector of the SipHash paper, appendix A: key 00..0f, input 00..0e.
TEST(SipHash, GivesTheVectorOfThePaper) {
  std::array<std::byte, 15> input{};
  for (std::size_t i = 0; i < input.size(); ++i) input[i] = static_cast<std::byte>(i);
  EXPECT_EQ(sip_hash({0x0706050403020100U, 0x0f0e0d0c0b0a0908U}, input), 0xa129ca6149be45e5U);
}

TEST(HashWords, DependsOnBothWordsAndTheKey) {
  const HashKey key{0x0706050403020100U, 0x0f0e0d0c0b0a0908U};
  std::set<std::uint64_t> hashes = {hash_words({key.k0, 3}, 5, 6), hash_words({2, key.k1}, 5, 6)};
  for (std::uint64_t first = 0; first < 100; ++first) {
    for (std::uint64_t second = 0; second < 100; ++second) {
      hashes.insert(hash_words(key, first, second));
    }
  }
  EXPECT_EQ(hashes.size(), 10'002U);
}

TEST(HashService, DependsOnEachOfItsParts) {
  const HashKey key{1, 2};
  const IpAddress host = IpAddress::v4({198, 51, 100, 1});
  const std::set<std::uint64_t> hashes = {
      hash_service(key, host, 80),
      hash_service(key, host, 81),
      hash_service(key, host, 80, {7, 0}),
      hash_service(key, host, 80, {0, 7}),
      hash_service(key, IpAddress::v4({198, 51, 100, 2}), 80),
      hash_service(key, IpAddress::v6({198, 51, 100, 1}), 80),
      hash_service({1, 3}, host, 80),
  };
  EXPECT_EQ(hashes.size(), 7U);
}

FlowKey some_flow() {
  return {.local = IpAddress::v4({198, 51, 100, 1}),
          .remote = IpAddress::v4({203, 0, 113, 9}),
          .local_port = 40000,
          .remote_port = 443,
          .vlans = {7, 0}};
}

TEST(HashFlow, DependsOnEveryMember) {
  const HashKey key{1, 2};
  const FlowKey flow = some_flow();
  FlowKey other = flow;
  other.local = IpAddress::v4({198, 51, 100, 2});
  EXPECT_NE(hash_flow(key, flow), hash_flow(key, other));
  other = flow;
  other.remote_port = 444;
  EXPECT_NE(hash_flow(key, flow), hash_flow(key, other));
  other = flow;
  other.vlans = {0, 7};
  EXPECT_NE(hash_flow(key, flow), hash_flow(key, other));
  EXPECT_NE(hash_flow(key, flow), hash_flow({1, 3}, flow));
}

TEST(FlowLabel, DependsOnThe5TupleAlone) {
  const std::uint32_t label = flow_label(some_flow());
  EXPECT_GT(label, 0U);
  EXPECT_LE(label, 0xf'ffffU);
  FlowKey other = some_flow();
  other.vlans = {0, 7};
  EXPECT_EQ(flow_label(other), label);
  std::set<std::uint32_t> labels;
  for (std::uint16_t port = 1; port <= 1000; ++port) {
    other.local_port = port;
    labels.insert(flow_label(other));
  }
  EXPECT_GT(labels.size(), 990U);
}

TEST(InitialSequence, AdvancesWithTimeAndDiffersBetweenFlows) {
  const HashKey key{1, 2};
  FlowKey other = some_flow();
  other.local_port = 40001;
  const std::uint32_t at_zero = initial_sequence(key, some_flow(), 0);
  EXPECT_EQ(initial_sequence(key, some_flow(), 4'000'000) - at_zero, 1000U);
  EXPECT_NE(initial_sequence(key, other, 0), at_zero);
}

}  // namespace
}  // namespace satrelay::gateway::keyed_hash_test
