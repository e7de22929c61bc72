#include <gmock/gmock.h>

#include "tests/unit/relay/doctor/sample_facts.h"

namespace satrelay::ctl::doctor::judge_rates_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

config::Link& link_of(Facts& facts) { return facts.file.config->links[0]; }

TEST(JudgeRates, AHealthyPairHasNoFinding) {
  EXPECT_THAT(judge_rates(sample_facts()), IsEmpty());
  EXPECT_THAT(judge_rates(sample_facts_of_file()), IsEmpty());
}

TEST(JudgeRates, ARateBeyondThePort) {
  Facts facts = sample_facts_of_file();
  facts.machine.wan->megabits = 10;
  const auto finding = find_check(judge_rates(facts), "rate_above_port");
  EXPECT_EQ(finding.subject, "links.sat.send_rate");
  EXPECT_EQ(finding.severity, ops::Severity::kError);
  EXPECT_THAT(finding.seen, HasSubstr("10.0 Mbit/s"));
  // A speed that is not known says nothing.
  facts.machine.wan->megabits = 0;
  EXPECT_THAT(judge_rates(facts), IsEmpty());
}

TEST(JudgeRates, AThousandTimesThePort) {
  Facts facts = sample_facts_of_file();
  link_of(facts).send_rate = BitRate::bits_per_second(50'000'000'000);
  facts.machine.wan->megabits = 50;
  EXPECT_THAT(find_check(judge_rates(facts), "rate_above_port").cause, HasSubstr("unit"));
}

TEST(JudgeRates, AThousandthOfTheOtherDirection) {
  Facts facts = sample_facts_of_file();
  link_of(facts).receive_rate = BitRate::bits_per_second(50'000);
  const auto finding = find_check(judge_rates(facts), "rate_unit");
  EXPECT_THAT(finding.cure, HasSubstr("links.sat.receive_rate"));
  link_of(facts).receive_rate = BitRate::bits_per_second(60'000);
  EXPECT_THAT(judge_rates(facts), IsEmpty());
}

TEST(JudgeRates, WithoutAFileTheGatewayTellsTheRates) {
  Facts facts = sample_facts();
  facts.file = {};
  facts.machine = {};
  facts.gateway->ports["wan"]["link_mbit_per_s"] = 10U;
  EXPECT_THAT(names_of(judge_rates(facts)), ElementsAre("rate_above_port"));
}

TEST(JudgeRates, ALinkWithoutACeilingHasNoRateToJudge) {
  Facts facts = sample_facts();
  facts.file = {};
  facts.gateway->links[0]["finds_capacity"] = "yes";
  facts.gateway->links[0]["send_configured_bps"] = 100'000'000'000U;
  facts.gateway->links[0]["send_capacity_bps"] = 99'000'000'000U;
  EXPECT_THAT(judge_rates(facts), IsEmpty());
  facts.gateway->links[0]["send_configured_bps"] = 50'000'000U;
  facts.gateway->links[0]["send_capacity_bps"] = 49'000'000U;
  EXPECT_THAT(names_of(judge_rates(facts)), ElementsAre("capacity_at_ceiling"));
}

TEST(JudgeRates, TheFarEndReceivesLess) {
  Facts facts = sample_facts();
  peer_of(facts)["announced_bps"] = 40'000'000U;
  EXPECT_THAT(find_check(judge_rates(facts), "rate_above_far_end").cause, HasSubstr("lowered"));
  peer_of(facts)["announced_bps"] = 50'000U;
  EXPECT_THAT(find_check(judge_rates(facts), "rate_above_far_end").cause, HasSubstr("unit"));
}

TEST(JudgeRates, RateControlHasCutTheRate) {
  Facts facts = sample_facts();
  peer_of(facts)["send_rate_bps"] = 20'000'000U;
  EXPECT_THAT(names_of(judge_rates(facts)), ElementsAre("rate_cut"));
  // A command is the cause.
  facts.gateway->links[0]["send_commanded_bps"] = 20'000'000U;
  const auto finding = find_check(judge_rates(facts), "rate_commanded");
  EXPECT_EQ(finding.cure, "satrelayctl capacity sat send configured");
  EXPECT_EQ(judge_rates(facts).size(), 1U);
  facts.gateway->links[0]["send_commanded_bps"] = 0U;
  peer_of(facts)["state"] = "connecting";
  EXPECT_THAT(judge_rates(facts), IsEmpty());
}

}  // namespace
}  // namespace satrelay::ctl::doctor::judge_rates_test
