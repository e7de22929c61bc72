// The rest of a random scenario after it is minimised for a made-up fault.
#include "relay/sim/checks/minimise.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "relay/sim/scenarios/describe.h"
#include "relay/sim/scenarios/random_scenario.h"

namespace satrelay::sim::minimise_test {
namespace {

constexpr std::size_t kEnough = 10'000;

// A scenario with many flows, and faults of every kind.
Scenario crowded() {
  for (std::uint64_t seed = 1;; ++seed) {
    Scenario scenario = random_scenario(seed);
    if (scenario.flows.size() < 20 || scenario.restarts.size() < 2) continue;
    if (scenario.outages.empty() || scenario.a_to_b.corrupt <= 0) continue;
    return scenario;
  }
}

TEST(Minimise, NothingButTheFaultThatIsNeededStays) {
  const Scenario scenario = crowded();
  const auto fails = [](const Scenario& s) { return !s.restarts.empty() && s.a_to_b.corrupt > 0; };
  const Minimised found = minimise(scenario, fails, kEnough);
  EXPECT_TRUE(fails(found.scenario));
  EXPECT_TRUE(found.scenario.flows.empty());
  EXPECT_TRUE(found.scenario.outages.empty());
  EXPECT_EQ(found.scenario.restarts.size(), 1U);
  EXPECT_LE(found.scenario.restarts[0].down, Duration::milliseconds(1));
  EXPECT_EQ(found.scenario.a_to_b.loss, 0);
  EXPECT_EQ(found.scenario.b_to_a.corrupt, 0);
  EXPECT_EQ(found.scenario.rules.size(), 1U);
}

TEST(Minimise, TwoFlowsFarApartAndTheirSizes) {
  Scenario scenario = crowded();
  scenario.flows[3].client_port = 7;
  scenario.flows[3].client_plan.send_bytes = 100'000;
  scenario.flows[15].client_port = 7;
  const auto fails = [](const Scenario& s) {
    const auto marked = [](const FlowSpec& flow) { return flow.client_port == 7; };
    const auto large = [](const FlowSpec& flow) { return flow.client_plan.send_bytes >= 5'000; };
    return std::ranges::count_if(s.flows, marked) == 2 && std::ranges::any_of(s.flows, large);
  };
  const Minimised found = minimise(scenario, fails, kEnough);
  ASSERT_EQ(found.scenario.flows.size(), 2U);
  EXPECT_GE(found.scenario.flows[0].client_plan.send_bytes, 5'000U);
  EXPECT_LT(found.scenario.flows[0].client_plan.send_bytes, 10'000U);
  EXPECT_LE(found.scenario.flows[1].client_plan.send_bytes, 1U);
  EXPECT_TRUE(found.scenario.restarts.empty());
  // Far fewer runs than one for each flow and each fault.
  EXPECT_LT(found.runs, 300U);
}

TEST(Minimise, ItsStepsLeadToTheSameScenarioAgain) {
  const Scenario scenario = crowded();
  const auto fails = [](const Scenario& s) {
    return s.flows.size() >= 3 && (s.b_to_a.loss > 0 || s.flows.size() >= 5);
  };
  const Minimised found = minimise(scenario, fails, kEnough);
  const auto steps = parse_reductions(to_string(found.steps));
  ASSERT_TRUE(steps);
  EXPECT_EQ(*steps, found.steps);
  Scenario again = scenario;
  for (const Reduction& step : *steps) EXPECT_TRUE(apply(step, again));
  EXPECT_EQ(describe(again), describe(found.scenario));
}

TEST(Minimise, WhatCannotBeMadeSimplerStays) {
  const Scenario scenario = crowded();
  const Minimised found = minimise(
      scenario, [](const Scenario&) { return false; }, kEnough);
  EXPECT_TRUE(found.steps.empty());
  EXPECT_EQ(describe(found.scenario), describe(scenario));
}

TEST(Minimise, KeepsToItsBudget) {
  std::size_t asked = 0;
  const auto fails = [&](const Scenario&) { return ++asked > 0; };
  const Minimised found = minimise(crowded(), fails, 7);
  EXPECT_EQ(asked, 7U);
  EXPECT_EQ(found.runs, 7U);
}

TEST(Reductions, WhatIsNoneIsRefused) {
  for (const char* text : {"flow", "flow:", "flow:x", "flow:1+", "flow:1 cow:2", "flow:1,", ":1"}) {
    EXPECT_FALSE(parse_reductions(text)) << text;
  }
  EXPECT_TRUE(parse_reductions("")->empty());
  const auto steps = parse_reductions("flow:3+5 loss:1");
  ASSERT_TRUE(steps);
  EXPECT_EQ(to_string(*steps), "flow:3+5 loss:1");
}

TEST(Reductions, APlaceThatIsNotThereChangesNothing) {
  Scenario scenario = crowded();
  const std::string before = describe(scenario);
  for (const ReductionKind& kind : kinds_for(scenario)) {
    EXPECT_FALSE(apply({kind.name, kind.places}, scenario)) << kind.name;
    EXPECT_FALSE(apply({kind.name, 0, 1'000}, scenario)) << kind.name;
    EXPECT_FALSE(apply({kind.name, 0, 0}, scenario)) << kind.name;
  }
  EXPECT_EQ(describe(scenario), before);
}

}  // namespace
}  // namespace satrelay::sim::minimise_test
