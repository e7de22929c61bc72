#include <gmock/gmock.h>

#include "tests/unit/relay/doctor/sample_facts.h"

namespace satrelay::ctl::doctor::judge_rules_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(JudgeRules, AHealthyPairHasNoFinding) {
  EXPECT_THAT(judge_rules(sample_facts()), IsEmpty());
  EXPECT_THAT(judge_rules(sample_facts_of_file()), IsEmpty());
}

TEST(JudgeRules, NoRuleAccelerates) {
  const std::string line = "rules: [{match: {port: 22}, action: bridge}]";
  EXPECT_EQ(find_check(judge_rules(sample_facts_of_file(line)), "nothing_accelerated").severity,
            ops::Severity::kError);
  Facts facts = sample_facts();
  facts.file = {};
  facts.gateway->rules = Json::parse(R"([{"action": "bridge"}, {"action": "drop"}])");
  EXPECT_THAT(names_of(judge_rules(facts)), ElementsAre("nothing_accelerated"));
}

TEST(JudgeRules, AnOperatorBypasses) {
  Facts facts = sample_facts();
  facts.gateway->status["new_flows"] = "bypass";
  EXPECT_EQ(find_check(judge_rules(facts), "bypass_on").cure, "satrelayctl bypass off");
  facts.gateway->status["new_flows"] = "draining";
  EXPECT_THAT(names_of(judge_rules(facts)), ElementsAre("draining"));
}

TEST(JudgeRules, APrefixThatHoldsOurOwnAddress) {
  Facts facts = sample_facts_of_file();
  facts.lan_addresses = {"203.0.113.1"};
  std::vector<IpPrefix>& prefixes = facts.file.config->peers[0].prefixes;
  prefixes = {*IpPrefix::parse("0.0.0.0/0")};
  EXPECT_THAT(judge_rules(facts), IsEmpty()) << "everything that is no host of this LAN";
  prefixes = {*IpPrefix::parse("203.0.113.0/24")};
  EXPECT_THAT(find_check(judge_rules(facts), "own_address_at_peer").seen,
              HasSubstr("203.0.113.1, an address of this machine on the LAN"));
  prefixes = {*IpPrefix::parse("192.0.2.0/24")};
  EXPECT_THAT(find_check(judge_rules(facts), "own_address_at_peer").seen,
              HasSubstr("192.0.2.1, the address of this gateway"));
}

TEST(JudgeRules, ConnectionsGoAndNoneIsRelayed) {
  Facts facts = sample_facts();
  const auto bridged = [](const char* reason) { return Json{{"reason", reason}}; };
  facts.gateway->bridged =
      Json::array({bridged("bridged_no_peer_prefix"), bridged("bridged_by_rule"),
                   bridged("bridged_no_peer_prefix")});
  EXPECT_THAT(judge_rules(facts), IsEmpty()) << "others were relayed";
  counters_of(facts)["flows_established"] = 0U;
  const auto finding = find_check(judge_rules(facts), "no_flow");
  EXPECT_THAT(finding.seen, HasSubstr("2 have the reason bridged_no_peer_prefix"));
  EXPECT_THAT(finding.cure, HasSubstr("peers[].prefixes"));
  // A reason without advice of its own.
  facts.gateway->bridged = Json(3, bridged("bridged_multicast"));
  EXPECT_THAT(find_check(judge_rules(facts), "no_flow").cure, HasSubstr("statistics.md"));
}

TEST(JudgeRules, CountersThatShowAMistake) {
  Facts facts = sample_facts();
  counters_of(facts)["bridged_asymmetric"] = 2U;
  counters_of(facts)["syns_of_no_peer"] = 1U;
  counters_of(facts)["dropped_relayed_from_wan"] = 99U;
  EXPECT_THAT(names_of(judge_rules(facts)), ElementsAre("bridged_asymmetric", "syns_of_no_peer"));
  counters_of(facts)["dropped_relayed_from_wan"] = 100U;
  EXPECT_EQ(judge_rules(facts).size(), 3U);
}

}  // namespace
}  // namespace satrelay::ctl::doctor::judge_rules_test
