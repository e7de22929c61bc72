// The criteria of rules, and which keys of a rule contradict each other or the rest of the file.
#include <gtest/gtest.h>

#include <string>

#include "tests/unit/config/one_key.h"

namespace satrelay::config::read_rules_test {
namespace {

std::string with_rules(const std::string& rules) { return with_line("rules: [" + rules + "]"); }

std::string error_of(const std::string& rules) { return error_with_line("rules: [" + rules + "]"); }

Rule rule_of(const std::string& rule) {
  return parse_gateway(with_rules(rule), "g.yaml").rules.at(0);
}

TEST(RulesKey, EveryCriterionCanBeWritten) {
  const Match match =
      rule_of(
          "{name: voice, action: drop, match: {source: 10.0.0.0/8, destination: [192.0.2.0/24, "
          "198.51.100.7], port: [5060, 16384-32767], protocol: [udp, 132], vlan: [100, untagged], "
          "dscp: [EF, AF41, CS6, LE, VA, 12], direction: inbound, peer: ship}}")
          .match;
  EXPECT_EQ(match.source.size(), 1U);
  EXPECT_EQ(match.destination.at(1), *IpPrefix::parse("198.51.100.7/32"));
  EXPECT_EQ(match.port.at(1), (PortRange{16384, 32767}));
  EXPECT_EQ(match.protocol, (std::vector<std::uint8_t>{17, 132}));
  EXPECT_EQ(match.vlan, (std::vector<std::uint16_t>{100, 0}));
  EXPECT_EQ(match.dscp, (std::vector<std::uint8_t>{46, 34, 48, 1, 44, 12}));
  EXPECT_EQ(match.direction, Direction::kInbound);
  EXPECT_EQ(match.peer, std::vector<std::string>{"ship"});
  EXPECT_EQ(rule_of("{name: voice, action: drop}").name, "voice");
  EXPECT_EQ(rule_of("{action: reset}").action, Action::kReset);
  EXPECT_EQ(rule_of("{action: bridge, match: {protocol: icmp}}").match.protocol,
            (std::vector<std::uint8_t>{1, 58}));
}

TEST(RulesKey, WhatIsNoneIsRefused) {
  const auto of_match = [](const std::string& match) {
    return error_of("{action: drop, match: {" + match + "}}");
  };
  EXPECT_EQ(of_match("dscp: AF44"),
            "g.yaml:5:38: rules[0].match.dscp: \"AF44\" is not a DSCP; write a number from 0 to 63 "
            "or a name: EF, VA, LE, CS0 to CS7, AF11 to AF43");
  EXPECT_EQ(of_match("vlan: 4095"),
            "g.yaml:5:38: rules[0].match.vlan: \"4095\" is not a VLAN; write a VLAN id from 1 to "
            "4094, or untagged");
  EXPECT_EQ(
      of_match("protocol: sctp"),
      "g.yaml:5:42: rules[0].match.protocol: \"sctp\" is not a protocol; write tcp, udp, icmp "
      "or a protocol's number, 0 to 255");
  EXPECT_EQ(of_match("direction: up"),
            "g.yaml:5:43: rules[0].match.direction: \"up\" is not known here; allowed: outbound, "
            "inbound");
  EXPECT_EQ(of_match("peer: plane"),
            "g.yaml:5:38: rules[0].match.peer: \"plane\" is not a peer; there are: ship");
  for (const char* wrong :
       {"dscp: 64", "dscp: ef", "dscp: CS8", "dscp: AF50", "dscp: -1", "vlan: 0", "vlan: -1",
        "protocol: 256", "port: 0", "dscp: []", "vlan: []", "peer: []", "protocol: []"}) {
    EXPECT_NE(of_match(wrong), "no error") << wrong;
  }
}

TEST(RulesKey, PartsThatContradictEachOtherAreRefused) {
  EXPECT_EQ(error_of("{action: accelerate, match: {protocol: udp}}"),
            "g.yaml:5:18: rules[0].action: accelerate is for TCP, which protocol excludes; write "
            "bridge, or remove protocol");
  EXPECT_EQ(error_of("{action: reset, match: {protocol: udp}}"),
            "g.yaml:5:18: rules[0].action: reset is for TCP, which protocol excludes; write drop");
  EXPECT_EQ(error_of("{action: drop, match: {protocol: icmp, port: 7}}"),
            "g.yaml:5:54: rules[0].match.port: contradicts protocol: only tcp and udp have ports, "
            "so nothing matches");
  EXPECT_EQ(error_of("{action: drop, compress: off}"),
            "g.yaml:5:34: rules[0].compress: contradicts action drop: it is for connections that "
            "are accelerated; remove it");
}

TEST(RulesKey, NamesAreNamesAndEachOfOneRule) {
  EXPECT_EQ(error_of("{name: 12, action: drop}"),
            "g.yaml:5:16: rules[0].name: \"12\" is a number, which is how rules without a name are "
            "called; write a name with a letter");
  EXPECT_NE(error_of("{name: 'two words', action: drop}"), "no error");
  EXPECT_EQ(error_of("{name: a, match: {port: 1}, action: drop}, {name: a, action: drop}"),
            "g.yaml:5:59: rules[1].name: \"a\" is the name of rules[0] already; write another");
}

TEST(RulesKey, ARuleBehindOneThatMatchesEverythingIsRefused) {
  EXPECT_NE(error_of("{action: drop}, {action: accelerate}").find("is never reached"),
            std::string::npos);
  EXPECT_EQ(error_of("{match: {direction: inbound}, action: drop}, {action: accelerate}"),
            "no error");
}

// The design asks for 10,000 rules. Here each matches another source prefix.
TEST(RulesKey, TenThousandAreRead) {
  std::string rules;
  for (int i = 0; i < 10'000; ++i) {
    rules += "{name: r-" + std::to_string(i) + ", match: {source: 10." + std::to_string(i / 250) +
             "." + std::to_string(i % 250) + ".0/24, destination: [192.0.2.0/24, " +
             "2001:db8::/32], port: [80, 443]}, action: bridge},\n";
  }
  const Gateway config = parse_gateway(with_rules(rules), "g.yaml");
  EXPECT_EQ(config.rules.size(), 10'000U);
}

}  // namespace
}  // namespace satrelay::config::read_rules_test
