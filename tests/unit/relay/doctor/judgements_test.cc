#include "relay/doctor/judgements.h"

#include <gmock/gmock.h>

#include "tests/unit/relay/doctor/sample_facts.h"

namespace satrelay::ctl::doctor::judgements_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(Judgements, AHealthyPairHasNoFinding) {
  EXPECT_THAT(judge(sample_facts()), IsEmpty());
  EXPECT_THAT(judge(sample_facts_of_file()), IsEmpty());
}

TEST(Judgements, TheWorstComesFirst) {
  Facts facts = sample_facts();
  peer_of(facts)["security"] = "none";
  facts.gateway->status["new_flows"] = "bypass";
  facts.gateway->status["age_ms"] = 4000U;
  EXPECT_THAT(names_of(judge(facts)), ElementsAre("worker_stuck", "bypass_on", "security_none"));
}

// A gateway of another version, or one that is just starting, may leave a reply out.
TEST(Judgements, TakeRepliesThatAreMissing) {
  Facts facts = sample_facts();
  facts.gateway = GatewayFacts();
  EXPECT_THAT(names_of(judge(facts)), IsEmpty());
  facts.file = {};
  facts.machine = {};
  EXPECT_THAT(names_of(judge(facts)), IsEmpty());
}

}  // namespace
}  // namespace satrelay::ctl::doctor::judgements_test
