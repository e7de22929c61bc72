// `capacity: find`, with and without a ceiling, and the keys that contradict it.
#include "config/readers/read_rate_control.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "config/readers/loader.h"

namespace satrelay::config::read_rate_control_test {
namespace {

Link link_of(const std::string& keys) {
  return parse_gateway(
             "ports: {lan: {interface: eth1}, wan: {interface: eth2}}\n"
             "gateway: {address: 192.0.2.1/30}\n"
             "links: {sat: {" +
                 keys +
                 "}}\n"
                 "peers: [{address: 192.0.2.2, security: none}]\n",
             "g.yaml")
      .links.at(0);
}

std::string error_of(const std::string& keys) {
  try {
    link_of(keys);
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "no error";
}

TEST(Capacity, IsFoundUpToACeilingOrWithout) {
  const Link bare = link_of("capacity: find");
  EXPECT_EQ(bare.control.controller, Controller::kFind);
  EXPECT_EQ(bare.send_rate, kMostLinkRate);
  EXPECT_EQ(bare.planned_rate(), kAssumedRate);
  EXPECT_EQ(bare.receive_rate, kAssumedRate);
  const Link limited = link_of("capacity: find, send_rate: 60Mbit");
  EXPECT_EQ(limited.send_rate, BitRate::bits_per_second(60'000'000));
  EXPECT_EQ(limited.planned_rate(), limited.send_rate);
  const Link known = link_of("capacity: known, send_rate: 60Mbit, receive_rate: 1Mbit");
  EXPECT_FALSE(known.finds_capacity());
  EXPECT_EQ(known.control.controller, Controller::kFixedRate);
}

TEST(Capacity, MistakesAreToldWithTheirPlace) {
  const std::vector<std::pair<std::string, std::string>> mistakes{
      {"capacity: find, controller: hpfp",
       "g.yaml:3:43: links.sat.controller: contradicts capacity: find, which chooses the rate by "
       "itself; remove one of them"},
      {"capacity: find, target: 10Mbit",
       "g.yaml:3:39: links.sat.target: contradicts capacity: find, which chooses the rate by "
       "itself; remove one of them"},
      {"capacity: guess",
       "g.yaml:3:25: links.sat.capacity: \"guess\" is not known here; allowed: known, find"},
      {"receive_rate: 10Mbit",
       "g.yaml:3:14: links.sat.send_rate: is missing; write the rate that the modem can send, like "
       "50Mbit, or capacity: find if it is not known"},
      {"capacity: find, send_rate: 0bit",
       "g.yaml:3:42: links.sat.send_rate: \"0bit\" is out of range; allowed: 1kbit to 100Gbit"},
      {"send_rate: 50Mbit, receive_rate: 10Mbit, controller: find",
       "g.yaml:3:68: links.sat.controller: \"find\" is not known here; allowed: fixed_rate, hpfp, "
       "tps, stp"}};
  for (const auto& [keys, message] : mistakes) EXPECT_EQ(error_of(keys), message);
}

}  // namespace
}  // namespace satrelay::config::read_rate_control_test
