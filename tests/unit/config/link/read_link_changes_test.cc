// The keys of link.yaml for a link that changes over time.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "config/readers/loader.h"
#include "config/text/error.h"

namespace satrelay::config::read_link_changes_test {
namespace {

SatLink load(const std::string& rest) {
  return parse_sat_link(
      "ports: {a: {interface: sata}, b: {interface: satb}}\n"
      "both: {rate: 50Mbit, delay: 25ms}\n" +
          rest,
      "l.yaml");
}

std::string error_of(const std::string& rest) {
  try {
    load(rest);
  } catch (const ConfigError& e) {
    return e.what();
  }
  return "no error";
}

TEST(LinkChanges, BecomeStepsOfTheDirectionsInOrderOfTime) {
  const SatLink config = load(
      "changes:\n"
      "  - {at: 10s, direction: a_to_b, rate: [5Mbit, 50Mbit], every: 15s, until: 41s}\n"
      "  - {at: 2s, outage: 100ms, delay: 30ms}\n"
      "  - {at: 1s, direction: b_to_a, delay: 40ms, loss: 5%}\n");
  ASSERT_EQ(config.a_to_b.rate_steps.size(), 3U);
  EXPECT_EQ(config.a_to_b.rate_steps[0].at, Duration::seconds(10));
  EXPECT_EQ(config.a_to_b.rate_steps[1].at, Duration::seconds(25));
  EXPECT_EQ(config.a_to_b.rate_steps[1].rate, BitRate::bits_per_second(50'000'000));
  EXPECT_EQ(config.a_to_b.rate_steps[2].rate, BitRate::bits_per_second(5'000'000));
  EXPECT_TRUE(config.b_to_a.rate_steps.empty());
  ASSERT_EQ(config.b_to_a.delay_steps.size(), 2U);
  EXPECT_EQ(config.b_to_a.delay_steps[0].delay, Duration::milliseconds(40));
  EXPECT_EQ(config.b_to_a.delay_steps[1].delay, Duration::milliseconds(30));
  EXPECT_EQ(config.a_to_b.delay_steps.size(), 1U);
  ASSERT_EQ(config.b_to_a.loss_steps.size(), 1U);
  EXPECT_DOUBLE_EQ(config.b_to_a.loss_steps[0].loss, 0.05);
  EXPECT_TRUE(config.a_to_b.loss_steps.empty());
  for (const LinkDirection* direction : {&config.a_to_b, &config.b_to_a}) {
    ASSERT_EQ(direction->outages.size(), 1U);
    EXPECT_EQ(direction->outages[0].at, Duration::seconds(2));
    EXPECT_EQ(direction->outages[0].length, Duration::milliseconds(100));
  }
}

TEST(LinkChanges, OneDirectionAloneMayBeOut) {
  const SatLink config = load("changes: [{at: 1s, direction: b_to_a, outage: 1s}]\n");
  EXPECT_TRUE(config.a_to_b.outages.empty());
  EXPECT_EQ(config.b_to_a.outages.size(), 1U);
}

TEST(LinkChanges, WhatRepeatsWithoutAnEndGoesOnForADay) {
  const SatLink config = load("changes: [{at: 0s, every: 15s, delay: [30ms, 20ms]}]\n");
  EXPECT_EQ(config.a_to_b.delay_steps.size(), 24U * 60 * 4 + 1);
  EXPECT_EQ(config.a_to_b.delay_steps.back().at, Duration::seconds(24 * 60 * 60));
}

TEST(LinkChanges, TheQueueDropsByPriorityIfAskedTo) {
  EXPECT_EQ(load("").a_to_b.discipline, QueueDiscipline::kTailDrop);
  const SatLink config = load("discipline: priority\n");
  EXPECT_EQ(config.a_to_b.discipline, QueueDiscipline::kPriority);
  EXPECT_EQ(config.b_to_a.discipline, QueueDiscipline::kPriority);
}

TEST(LinkChanges, MistakesAreToldWithTheirPlace) {
  const struct {
    const char* text;
    const char* message;
  } mistakes[] = {
      {"discipline: fair\n",
       "l.yaml:3:13: discipline: \"fair\" is not known here; allowed: tail_drop, priority"},
      {"changes: {at: 1s, loss: 1%}\n", "l.yaml:3:10: changes: is a map; write a list of changes"},
      {"changes: [{loss: 1%}]\n",
       "l.yaml:3:11: changes[0].at: is missing; write when it happens, like 10s"},
      {"changes: [{at: 1s}]\n",
       "l.yaml:3:11: changes[0]: changes nothing; write rate, delay, loss or outage"},
      {"changes: [{at: 25h, loss: 1%}]\n",
       "l.yaml:3:16: changes[0].at: \"25h\" is out of range; allowed: 0s to 24h"},
      {"changes: [{at: 1s, rate: 5Mbit, announced: yes}]\n",
       "l.yaml:3:33: changes[0].announced: unknown key; allowed here: at, every, until, direction, "
       "rate, delay, loss, outage"},
      {"changes: [{at: 1s, rate: []}]\n",
       "l.yaml:3:26: changes[0].rate: is empty; write one value, or several that take turns"},
      {"changes: [{at: 1s, every: 1s, outage: 1s}]\n",
       "l.yaml:3:39: changes[0].outage: is not shorter than every; write a shorter one"},
      {"changes: [{at: 1s, every: 10ms, loss: [0, 1%]}]\n",
       "l.yaml:3:11: changes[0]: brings the changes above 100000; write a longer every"},
      {"traces: {a_to_b: {rate: x}}\n",
       "l.yaml:3:19: traces.a_to_b.rate: unknown key; allowed here: loss, delay"},
      {"traces: {both: {loss: nowhere.txt}}\n",
       "nowhere.txt: cannot be read: No such file or directory"},
      {"memory: 4MB\nchanges: [{at: 1s, rate: 1Gbit}, {at: 1s, delay: 250ms}]\n",
       "l.yaml:3:9: memory: 4MB does not hold what rates, delays and queues keep in flight; write "
       "at least 62500kB, or leave it out"},
  };
  for (const auto& mistake : mistakes) EXPECT_EQ(error_of(mistake.text), mistake.message);
}

}  // namespace
}  // namespace satrelay::config::read_link_changes_test
