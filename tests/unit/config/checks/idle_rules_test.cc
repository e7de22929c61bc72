// Rules that no packet reaches, and rules that relay nothing.
#include "config/checks/idle_rules.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "config/readers/loader.h"
#include "tests/unit/config/one_key.h"

namespace satrelay::config::idle_rules_test {
namespace {

using Paths = std::vector<std::string>;

Paths idle(const std::string& rules) {
  Paths paths;
  const Gateway config = parse_gateway(with_line("rules: [" + rules + "]"), "g.yaml");
  for (const Contradiction& each : find_idle_rules(config.rules)) paths.push_back(each.path);
  return paths;
}

TEST(IdleRules, AreThoseWhosePacketsAnEarlierRuleTakes) {
  const std::string last = ", {action: accelerate}";
  const Paths second{"rules[1]"};
  EXPECT_EQ(idle("{match: {port: 22}, action: bridge}, {match: {port: 22}, action: drop}" + last),
            second);
  EXPECT_EQ(
      idle("{match: {port: 1-99}, action: bridge}, {match: {port: [22, 80-90]}, action: drop}" +
           last),
      second);
  EXPECT_EQ(idle("{match: {source: 10.0.0.0/8}, action: drop}, "
                 "{match: {source: 10.1.0.0/16, port: 22, direction: inbound}, action: drop}" +
                 last),
            second);
  EXPECT_EQ(idle("{match: {source: [0.0.0.0/0, \"::/0\"]}, action: bridge}" + last), second);
}

TEST(IdleRules, AreNoneThatAPacketCanReach) {
  const std::string last = ", {action: accelerate}";
  for (const char* each :
       {"{match: {port: 22}, action: bridge}, {match: {port: 22-23}, action: drop}",
        "{match: {port: 22}, action: bridge}, {match: {source: 10.0.0.0/8}, action: drop}",
        "{match: {port: 22, peer: ship}, action: bridge}, {match: {port: 22}, action: drop}",
        "{match: {vlan: 7}, action: bridge}, {match: {vlan: [7, 8]}, action: drop}",
        "{match: {direction: inbound}, action: bridge}, {match: {direction: outbound}, action: "
        "drop}",
        "{match: {source: 10.1.0.0/16}, action: bridge}, {match: {source: 10.0.0.0/8}, action: "
        "drop}",
        // Frames that are no IP packets reach the second rule.
        "{match: {source: [0.0.0.0/0, \"::/0\"]}, action: accelerate}, {match: {vlan: 7}, action: "
        "drop}"}) {
    const std::string rules(each);
    EXPECT_EQ(idle(rules + (rules.find("::/0") == std::string::npos ? last : "")), Paths())
        << rules;
  }
}

TEST(IdleRules, AreToldIfNoneRelays) {
  EXPECT_EQ(idle(""), Paths());
  EXPECT_EQ(idle("{match: {port: 22}, action: bridge}"), Paths{"rules"});
  const Gateway config =
      parse_gateway(with_line("rules: [{match: {port: 22}, action: bridge}]"), "g.yaml");
  EXPECT_EQ(config.remarks.warnings,
            Paths{"g.yaml:5:8: rules: have no action accelerate, so the gateway relays nothing; "
                  "write {action: accelerate} as the last rule unless that is wanted"});
}

}  // namespace
}  // namespace satrelay::config::idle_rules_test
