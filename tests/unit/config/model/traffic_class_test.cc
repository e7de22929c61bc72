// The keys of gateway.yaml that give classes and bridged frames their shares.
#include <gtest/gtest.h>

#include <string>

#include "config/readers/loader.h"
#include "config/text/error.h"

namespace satrelay::config::traffic_class_test {
namespace {

constexpr const char* kPorts =
    "ports: {lan: {interface: eth1}, wan: {interface: eth2}}\n"
    "gateway: {address: 192.0.2.1/30}\n"
    "peers: [{address: 192.0.2.2, security: none}]\n";
constexpr const char* kLink = "links: {sat: {send_rate: 50Mbit, receive_rate: 10Mbit}}\n";

Gateway load(const std::string& rest) {
  return parse_gateway(std::string(kPorts) + kLink + rest, "g.yaml");
}

std::string error_of(const std::string& text) {
  try {
    parse_gateway(std::string(kPorts) + text, "g.yaml");
  } catch (const ConfigError& e) {
    return e.what();
  }
  return "no error";
}

std::string link_with(const std::string& more) {
  return "links: {sat: {send_rate: 50Mbit, receive_rate: 10Mbit, " + more + "}}\n";
}

TEST(ScheduleKeys, ClassesHaveAWeightAndRates) {
  const Gateway config = load(
      "rules: [{match: {port: 22}, action: accelerate, class: typing},\n"
      "        {match: {dscp: EF}, action: bridge, class: voice}, {action: accelerate}]\n"
      "classes: {bulk: {maximum: 20Mbit}, typing: {weight: 255},\n"
      "          voice: {guaranteed: 2Mbit, maximum: 2Mbit}}\n"
      "fair_hosts: remote\n");
  const std::vector<TrafficClass> classes{
      {.name = "bulk", .maximum = BitRate::bits_per_second(20'000'000)},
      {.name = "typing", .weight = 255},
      {.name = "voice",
       .guaranteed = BitRate::bits_per_second(2'000'000),
       .maximum = BitRate::bits_per_second(2'000'000)}};
  EXPECT_EQ(config.classes, classes);
  EXPECT_EQ(config.rules.at(0).traffic_class, "typing");
  EXPECT_EQ(config.rules.at(1).traffic_class, "voice");
  EXPECT_EQ(config.rules.at(2).traffic_class, "");
  EXPECT_EQ(config.fair_hosts, FairHosts::kRemote);
  EXPECT_EQ(load("").fair_hosts, FairHosts::kLocal);
}

TEST(ScheduleKeys, RatesOfClassesMustBeThere) {
  const std::string link = kLink;
  EXPECT_EQ(
      error_of(link + "classes: {relayed: {weight: 2}}\n"),
      "g.yaml:5:20: classes.relayed: is the name for traffic without a class; write another one");
  EXPECT_EQ(error_of(link + "classes: {a: {guaranteed: 2Mbit, maximum: 1Mbit}}\n"),
            "g.yaml:5:43: classes.a.maximum: is less than what is guaranteed");
  EXPECT_EQ(error_of(link + "classes: {a: {guaranteed: 20Mbit}, b: {guaranteed: 23Mbit}}\n"),
            "g.yaml:5:10: classes: guarantee more than 95% of link sat, which sends 50Mbit; its "
            "bridged_share counts too; write less");
  EXPECT_EQ(error_of(link + "classes: {a: {guaranteed: 20Mbit}, b: {guaranteed: 22500kbit}}\n"),
            "no error");
  std::string many = "classes: {";
  for (char c = 'a'; c < 'q'; ++c) many += std::string(c > 'a' ? ", " : "") + c + ": {}";
  EXPECT_EQ(error_of(link + many + "}\n"),
            "g.yaml:5:119: classes.p: is one too many; there may be 15 classes");
}

TEST(ScheduleKeys, ClassesThatContradictAreRefused) {
  const std::string link = kLink;
  EXPECT_EQ(error_of(link + "rules: [{action: accelerate, class: fast}]\n"),
            "g.yaml:5:37: rules[0].class: \"fast\" is not a class; there are none; describe it in "
            "classes");
  EXPECT_EQ(error_of(link + "classes: {slow: {weight: 2}}\n"
                            "rules: [{action: accelerate, class: fast}]\n"),
            "g.yaml:6:37: rules[0].class: \"fast\" is not a class; there are: slow");
  EXPECT_EQ(
      error_of(link + "classes: {fast: {weight: 2}}\nrules: [{action: drop, class: fast}]\n"),
      "g.yaml:6:31: rules[0].class: contradicts action drop: nothing is sent that could share a "
      "link; remove it");
  EXPECT_EQ(
      error_of(link + "classes: {fast: {weight: 0}}\n"),
      "g.yaml:5:26: classes.fast.weight: \"0\" is out of range; write a whole number from 1 to "
      "255");
}

TEST(ScheduleKeys, BridgedFramesHaveAShareAndALimit) {
  EXPECT_EQ(load("").links.at(0).bridged_share, std::nullopt);
  EXPECT_EQ(load("").links.at(0).bridged_queue, Duration::milliseconds(100));
  const Gateway config = parse_gateway(
      std::string(kPorts) + link_with("bridged_share: 25%, bridged_queue: 1s"), "g.yaml");
  EXPECT_EQ(config.links.at(0).bridged_share, 0.25);
  EXPECT_EQ(config.links.at(0).bridged_queue, Duration::seconds(1));
  EXPECT_EQ(
      error_of(link_with("bridged_share: 0.5%")),
      "g.yaml:4:71: links.sat.bridged_share: \"0.5%\" leaves too little to one side; write 1% "
      "to 90%");
  EXPECT_EQ(error_of(link_with("bridged_queue: 11s")),
            "g.yaml:4:71: links.sat.bridged_queue: \"11s\" is out of range; allowed: 1ms to 10s");
}

}  // namespace
}  // namespace satrelay::config::traffic_class_test
