#include "relay/gateway/policy.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <vector>

namespace satrelay::gateway {
namespace {

IpAddress ip(const char* text) { return *IpAddress::parse(text); }
IpPrefix prefix(const char* text) { return *IpPrefix::parse(text); }

TEST(Policy, FirstMatchingRuleWins) {
  config::Rule ssh;
  ssh.match.port = {{22, 22}};
  ssh.action = config::Action::kBridge;
  config::Rule from_lab;
  from_lab.match.source = {prefix("198.51.100.0/25")};
  from_lab.match.destination = {prefix("203.0.113.0/24")};
  from_lab.compress = config::Compress::kOff;
  const Policy policy({ssh, from_lab}, {});
  const auto* rule = policy.match(ip("198.51.100.1"), ip("203.0.113.1"), 22);
  ASSERT_NE(rule, nullptr);
  EXPECT_EQ(rule->action, config::Action::kBridge);
  rule = policy.match(ip("198.51.100.1"), ip("203.0.113.1"), 80);
  ASSERT_NE(rule, nullptr);
  EXPECT_EQ(rule->compress, config::Compress::kOff);
  EXPECT_EQ(policy.match(ip("198.51.100.200"), ip("203.0.113.1"), 80), nullptr);
}

TEST(Policy, CountsConnectionsOfEachRuleAndOfNone) {
  config::Rule ssh;
  ssh.match.port = {{22, 22}};
  config::Rule web;
  web.match.port = {{80, 80}};
  Policy policy({ssh, web}, {});
  for (const std::uint16_t port : std::to_array<std::uint16_t>({80, 22, 80, 443})) {
    policy.count(policy.match(ip("198.51.100.1"), ip("203.0.113.1"), port));
  }
  EXPECT_EQ(policy.connections(), (std::vector<std::uint64_t>{1, 2, 1}));
}

TEST(Policy, WithoutRulesAcceleratesEverything) {
  const Policy policy({}, {});
  const auto* rule = policy.match(ip("192.0.2.1"), ip("192.0.2.2"), 1);
  ASSERT_NE(rule, nullptr);
  EXPECT_EQ(rule->action, config::Action::kAccelerate);
}

TEST(Policy, LongestPrefixChoosesThePeer) {
  config::Peer wide;
  wide.prefixes = {prefix("10.0.0.0/8"), prefix("2001:db8::/32")};
  config::Peer narrow;
  narrow.prefixes = {prefix("10.1.0.0/16")};
  const Policy policy({}, {wide, narrow});
  EXPECT_EQ(policy.peer_for(ip("10.2.0.1")), 0U);
  EXPECT_EQ(policy.peer_for(ip("10.1.0.1")), 1U);
  EXPECT_EQ(policy.peer_for(ip("2001:db8::1")), 0U);
  EXPECT_FALSE(policy.peer_for(ip("192.0.2.1")));
}

}  // namespace
}  // namespace satrelay::gateway
