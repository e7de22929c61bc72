#include "relay/gateway/rules/policy.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <vector>

namespace satrelay::gateway::policy_test {
namespace {

IpAddress ip(const char* text) { return *IpAddress::parse(text); }
IpPrefix prefix(const char* text) { return *IpPrefix::parse(text); }

config::Rule on_port(std::uint16_t port, std::string name = "") {
  config::Rule rule;
  rule.name = std::move(name);
  rule.match.port = {{port, port}};
  return rule;
}

config::Gateway with_rules(std::vector<config::Rule> rules) {
  config::Gateway config;
  config.rules = std::move(rules);
  return config;
}

PolicyKey to_port(std::uint16_t port) {
  return {.source = ip("198.51.100.1"), .destination = ip("203.0.113.1"), .port = port};
}

TEST(Policy, FirstMatchingRuleWins) {
  config::Rule ssh = on_port(22);
  ssh.action = config::Action::kBridge;
  config::Rule from_lab;
  from_lab.match.source = {prefix("198.51.100.0/25")};
  const Policy policy(with_rules({ssh, from_lab}));
  EXPECT_EQ(policy.match(to_port(22))->number, 1U);
  EXPECT_EQ(policy.match(to_port(80))->number, 2U);
  PolicyKey elsewhere = to_port(80);
  elsewhere.source = ip("198.51.100.200");
  EXPECT_EQ(policy.match(elsewhere), policy.none());
  EXPECT_EQ(policy.none()->number, 0U);
  EXPECT_EQ(policy.none()->rule.action, config::Action::kBridge);
}

TEST(Policy, WithoutRulesAcceleratesEverything) {
  const Policy policy(with_rules({}));
  EXPECT_EQ(policy.match(to_port(1))->rule.action, config::Action::kAccelerate);
  EXPECT_EQ(policy.match(to_port(1))->number, 1U);
}

TEST(Policy, LongestPrefixChoosesThePeer) {
  config::Gateway config;
  config.peers.resize(2);
  config.peers[0].prefixes = {prefix("10.0.0.0/8"), prefix("2001:db8::/32")};
  config.peers[1].prefixes = {prefix("10.1.0.0/16")};
  const Policy policy(config);
  EXPECT_EQ(policy.peer_for(ip("10.2.0.1")), FarGatewayId(0));
  EXPECT_EQ(policy.peer_for(ip("10.1.0.1")), FarGatewayId(1));
  EXPECT_EQ(policy.prefix_for(ip("10.1.0.1")), prefix("10.1.0.0/16"));
  EXPECT_EQ(policy.peer_for(ip("2001:db8::1")), FarGatewayId(0));
  EXPECT_FALSE(policy.peer_for(ip("192.0.2.1")));
  EXPECT_FALSE(policy.prefix_for(ip("192.0.2.1")));
}

TEST(Policy, RulesAreFoundByNameAndByNumber) {
  const Policy policy(with_rules({on_port(22, "ssh"), on_port(80)}));
  EXPECT_EQ(policy.find("ssh")->number, 1U);
  EXPECT_EQ(policy.find("2")->number, 2U);
  EXPECT_EQ(policy.find("3"), nullptr);
  EXPECT_EQ(policy.find("0"), nullptr);
  EXPECT_EQ(policy.find(""), nullptr);
}

TEST(Policy, ARuleGoesOnCountingWhereverItStandsAfterAReload) {
  Policy policy(with_rules({on_port(22), on_port(80, "web"), on_port(443)}));
  for (const std::uint16_t port : std::to_array<std::uint16_t>({22, 80, 443})) {
    policy.match(to_port(port))->use.connections = port;
  }
  const RulePtr gone = policy.rules()[2];
  config::Rule web = on_port(8080, "web");  // by its name it is the same rule
  const config::Gateway next = with_rules({web, on_port(22), on_port(444)});
  policy.replace_rules(next.rules, Policy::index(next));
  EXPECT_EQ(policy.match(to_port(22))->use.connections, 22U);
  EXPECT_EQ(policy.match(to_port(22))->number, 2U);
  EXPECT_EQ(policy.match(to_port(8080))->use.connections, 80U);
  EXPECT_EQ(policy.match(to_port(444))->use.connections, 0U);
  EXPECT_EQ(policy.match(to_port(443)), policy.none());
  EXPECT_EQ(gone->use.connections, 443U);  // for flows that still use it
}

// Two rules with the same content are two rules, even if one of them never matches.
TEST(Policy, EqualRulesEachKeepTheirOwnCount) {
  const config::Gateway config = with_rules({on_port(22), on_port(22)});
  Policy policy(config);
  policy.rules()[0]->use.connections = 1;
  policy.rules()[1]->use.connections = 2;
  policy.replace_rules(config.rules, Policy::index(config));
  EXPECT_EQ(policy.rules()[0]->use.connections, 1U);
  EXPECT_EQ(policy.rules()[1]->use.connections, 2U);
}

TEST(Policy, AReloadTakesBackWhatWasSet) {
  const config::Gateway config = with_rules({on_port(80)});
  Policy policy(config);
  policy.find("1")->rule.compress = config::Compress::kOff;
  policy.replace_rules(config.rules, Policy::index(config));
  EXPECT_EQ(policy.find("1")->rule.compress, config::Compress::kAuto);
}

}  // namespace
}  // namespace satrelay::gateway::policy_test
