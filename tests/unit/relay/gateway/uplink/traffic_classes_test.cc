// Classes keep their numbers and counters over reloads.
#include "relay/gateway/uplink/traffic_classes.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace satrelay::gateway::traffic_classes_test {
namespace {

std::vector<config::TrafficClass> named(const std::string& letters) {
  std::vector<config::TrafficClass> classes;
  for (const char c : letters) classes.push_back({.name = std::string(1, c)});
  return classes;
}

TEST(TrafficClasses, WhatHasNoClassIsInOneOfTwo) {
  const TrafficClasses classes(named("ab"));
  EXPECT_EQ(classes.of_relayed(""), TrafficClasses::kRelayed);
  EXPECT_EQ(classes.of_bridged("unknown"), TrafficClasses::kBridged);
  EXPECT_EQ(classes.of_relayed("b"), classes.of_bridged("b"));
  ASSERT_EQ(classes.order().size(), 4U);
  EXPECT_EQ(classes[classes.order()[0]].in_force.name, "a");
  EXPECT_EQ(classes[classes.order()[3]].in_force.name, "bridged");
}

TEST(TrafficClasses, AClassKeepsItsNumberAndItsCounters) {
  TrafficClasses classes(named("ab"));
  const auto b = *classes.find("b");
  classes[b].use.bridged_frames = 7;
  classes[b].in_force.weight = 9;
  classes.replace(named("cb"));
  EXPECT_EQ(classes.find("b"), b);
  EXPECT_EQ(classes[b].use.bridged_frames, 7U);
  EXPECT_EQ(classes[b].in_force.weight, 1);  // as configured
  EXPECT_FALSE(classes.find("a"));
  EXPECT_EQ(classes[*classes.find("c")].use.bridged_frames, 0U);
}

// New classes get other numbers: frames of the old classes may still wait under the old numbers.
TEST(TrafficClasses, AllMayBeExchangedAtOnce) {
  TrafficClasses classes(named("abcdefghijklmno"));
  const schedule::ClassSet before = classes.in_use();
  classes.replace(named("ABCDEFGHIJKLMNO"));
  const schedule::ClassSet nameless =
      schedule::class_bit(TrafficClasses::kRelayed) | schedule::class_bit(TrafficClasses::kBridged);
  EXPECT_EQ(before & classes.in_use(), nameless);
  EXPECT_EQ(classes.order().size(), 17U);
}

}  // namespace
}  // namespace satrelay::gateway::traffic_classes_test
