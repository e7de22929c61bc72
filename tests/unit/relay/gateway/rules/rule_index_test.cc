#include "relay/gateway/rules/rule_index.h"

#include <gtest/gtest.h>

#include <array>
#include <string_view>

#include "pep/base/random.h"
#include "relay/gateway/rules/explanation.h"

namespace satrelay::gateway::rule_index_test {
namespace {

using config::Direction;
using config::Rule;

const std::vector<config::Peer> kPeers = {
    {.name = "hub", .address = {}, .prefixes = {}, .links = {""}},
    {.name = "ship", .address = {}, .prefixes = {}, .links = {""}}};
const std::vector<std::string> kPeerNames = {"hub", "ship"};

std::optional<std::size_t> tried_one_by_one(const std::vector<Rule>& rules, const PolicyKey& key) {
  for (std::size_t i = 0; i < rules.size(); ++i) {
    if (!first_miss(rules[i], key, kPeers)) return i;
  }
  return std::nullopt;
}

IpPrefix random_prefix(Random& random) {
  const auto octet = [&] { return static_cast<std::uint8_t>(random.below(3) + 10); };
  switch (random.below(5)) {
    case 0:
      return {IpAddress::v4({octet(), 0, 0, 0}), 8};
    case 1:
      return {IpAddress::v4({octet(), octet(), 0, 0}), 16};
    case 2:
      return {IpAddress::v4({octet(), octet(), octet(), octet()}), 32};
    case 3:
      return {IpAddress::v6({0x20, 1, octet()}), 24};
    default:
      return {IpAddress::v4({}), 0};
  }
}

IpAddress random_address(Random& random, bool v4) {
  const auto octet = [&] { return static_cast<std::uint8_t>(random.below(4) + 10); };
  return v4 ? IpAddress::v4({octet(), octet(), octet(), octet()})
            : IpAddress::v6({0x20, 1, octet(), octet()});
}

// One rule in `rarity` has each criterion.
Rule random_rule(Random& random, std::uint64_t rarity) {
  Rule rule;
  const auto wanted = [&] { return random.below(rarity) == 0; };
  const auto some = [&](auto& list, auto make) {
    if (!wanted()) return;
    for (std::uint64_t i = random.below(3) + 1; i > 0; --i) list.push_back(make());
  };
  some(rule.match.source, [&] { return random_prefix(random); });
  some(rule.match.destination, [&] { return random_prefix(random); });
  some(rule.match.port, [&] {
    const auto first = static_cast<std::uint16_t>(random.below(5) + 1);
    const std::uint64_t more = random.below(4) == 0 ? 65'530 : random.below(3);
    return config::PortRange{first, static_cast<std::uint16_t>(first + more)};
  });
  some(rule.match.protocol, [&] {
    return std::array<std::uint8_t, 4>{6, 17, 60, 44}[random.below(4)];
  });
  some(rule.match.vlan, [&] { return static_cast<std::uint16_t>(random.below(4)); });
  some(rule.match.dscp, [&] { return static_cast<std::uint8_t>(random.below(3) * 23); });
  some(rule.match.peer, [&] { return kPeerNames[random.below(2)]; });
  if (wanted()) rule.match.direction = static_cast<Direction>(random.below(2));
  rule.action = static_cast<config::Action>(random.below(4));
  return rule;
}

PolicyKey random_key(Random& random) {
  const bool v4 = random.below(4) != 0;
  PolicyKey key;
  key.source = random_address(random, v4);
  key.destination = random_address(random, v4);
  key.port = static_cast<std::uint16_t>(random.below(10));
  key.protocol = random.below(2) == 0 ? 6 : 17;
  key.vlan = static_cast<std::uint16_t>(random.below(5));
  key.dscp = static_cast<std::uint8_t>(random.below(3) * 23);
  key.direction = static_cast<Direction>(random.below(2));
  if (random.below(3) != 0) key.peer = FarGatewayId(random.below(2));
  if (random.below(4) == 0) key.hidden = static_cast<PolicyKey::Hidden>(random.below(3));
  if (random.below(4) == 0) {
    std::array<std::byte, 24> chain{};
    constexpr std::uint8_t kNumbers[] = {60, 44, 0};
    for (std::size_t i = 0; i < 2; ++i) chain[8 * i] = std::byte{kNumbers[random.below(2) + i]};
    chain[16] = std::byte{key.protocol};
    key.extensions = wire::walk_extension_headers(kNumbers[random.below(3)], chain);
  }
  return key;
}

TEST(RuleIndex, FindsWhatTryingRuleByRuleFinds) {
  Random random(11);
  std::size_t found = 0;
  std::size_t missed = 0;
  for (const std::size_t size : {1U, 2U, 63U, 64U, 65U, 200U, 4096U, 4200U}) {
    for (const std::uint64_t rarity : {1U, 2U, 4U}) {
      std::vector<Rule> rules;
      for (std::size_t i = 0; i < size; ++i) rules.push_back(random_rule(random, rarity));
      const RuleIndex index(rules, kPeerNames);
      for (int i = 0; i < 300; ++i) {
        const PolicyKey key = random_key(random);
        const auto expected = tried_one_by_one(rules, key);
        ASSERT_EQ(index.first_match(key), expected) << size << " rules, rarity " << rarity;
        ++(expected ? found : missed);
      }
    }
  }
  EXPECT_GT(found, 1000U);
  EXPECT_GT(missed, 1000U);
}

// Places in the words of the sets and in their summaries: the last of 64, the first one after it,
// and the same one level higher.
TEST(RuleIndex, FindsTheOnlyRuleWhereverItStands) {
  Rule never;
  never.match.port = {{1, 1}};
  PolicyKey key;
  key.source = IpAddress::v4({10, 0, 0, 1});
  key.destination = IpAddress::v4({10, 0, 0, 2});
  key.port = 2;
  for (const std::size_t place : {0U, 63U, 64U, 4095U, 4096U, 8191U, 8192U, 9999U}) {
    std::vector<Rule> rules(10'000, never);
    rules[place] = Rule();
    EXPECT_EQ(RuleIndex(rules, {}).first_match(key), place);
  }
  EXPECT_FALSE(RuleIndex(std::vector<Rule>(10'000, never), {}).first_match(key));
}

TEST(RuleIndex, OfNoRulesFindsNone) { EXPECT_FALSE(RuleIndex({}, {}).first_match(PolicyKey())); }

TEST(RuleIndex, ARuleForAnUnknownPeerMatchesNothing) {
  Rule rule;
  rule.match.peer = {"nobody"};
  const RuleIndex index({rule}, kPeerNames);
  PolicyKey key;
  for (const std::optional<FarGatewayId> peer :
       {std::optional<FarGatewayId>(), std::optional(FarGatewayId(0)),
        std::optional(FarGatewayId(1))}) {
    key.peer = peer;
    EXPECT_FALSE(index.first_match(key));
  }
}

}  // namespace
}  // namespace satrelay::gateway::rule_index_test
