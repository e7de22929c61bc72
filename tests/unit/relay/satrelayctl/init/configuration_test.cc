#include "relay/satrelayctl/init/configuration.h"

#include <gtest/gtest.h>

#include <string>

#include "config/readers/loader.h"
#include "relay/satrelayctl/commands/keygen.h"
#include "relay/satrelayctl/init/answers_file.h"
#include "tests/unit/relay/satrelayctl/init/sample_setting.h"
#include "tests/unit/temporary_folder.h"

namespace satrelay::ctl::init::configuration_test {
namespace {

class Configuration : public ::testing::Test {
 protected:
  Answers answers_of(const std::string& text) const {
    return parse_answers(text, "answers.yaml", sample_setting(folder_.file("new")));
  }
  config::Gateway load(const Answers& answers, Side side) const {
    return config::parse_gateway(configuration_text(answers, side, secret_), "gateway.yaml");
  }
  void SetUp() override { write_key_file(secret_); }

  TemporaryFolder folder_;
  std::string secret_ = folder_.file("psk");
};

TEST_F(Configuration, HasSwappedRolesAtTheOtherSite) {
  const Answers answers = answers_of(
      "role: hub\nsite: teleport\npeer: ship\nlan: eth1\nwan: eth2\npeer_lan: a0\npeer_wan: b0\n"
      "terminal_hosts: [198.51.100.0/24, \"2001:db8:2::/48\"]\noverhead: gse\ncapacity: known\n"
      "send_rate: 50Mbit\nreceive_rate: 10Mbit\nhandshake: auto\n");
  const config::Gateway here = load(answers, Side::kHere);
  const config::Gateway there = load(answers, Side::kThere);
  EXPECT_EQ(here.lan.interface, "eth1");
  EXPECT_EQ(there.wan.interface, "b0");
  EXPECT_EQ(here.gateway.own, there.peers[0].address);
  EXPECT_EQ(there.gateway.own, here.peers[0].address);
  EXPECT_EQ(here.peers[0].name, "ship");
  EXPECT_EQ(there.peers[0].name, "teleport");
  EXPECT_EQ(here.peers[0].prefixes.size(), 2U);
  EXPECT_EQ(here.peers[0].prefixes[0].to_string(), "198.51.100.0/24");
  EXPECT_EQ(there.peers[0].prefixes[0].length, 0);
  EXPECT_EQ(here.links[0].send_rate, there.links[0].receive_rate);
  EXPECT_EQ(there.links[0].send_rate, BitRate::bits_per_second(10'000'000));
  EXPECT_EQ(here.links[0].overhead, 10U);
  EXPECT_FALSE(here.links[0].finds_capacity());
  EXPECT_EQ(here.fair_hosts, config::FairHosts::kRemote);
  EXPECT_EQ(there.fair_hosts, config::FairHosts::kLocal);
  EXPECT_EQ(here.rules[0].modes.handshake, config::HandshakeMode::kAuto);
  EXPECT_TRUE(here.peers[0].security.keys);
}

TEST_F(Configuration, SaysThatACapacityIsFound) {
  const Answers answers = answers_of("capacity: find\nsend_rate: 20Mbit\nsecret: none\n");
  const config::Gateway here = load(answers, Side::kHere);
  EXPECT_TRUE(here.links[0].finds_capacity());
  EXPECT_EQ(here.links[0].send_rate, BitRate::bits_per_second(20'000'000));
  EXPECT_EQ(load(answers, Side::kThere).links[0].send_rate, config::kMostLinkRate);
  EXPECT_FALSE(here.peers[0].security.keys);
}

TEST_F(Configuration, HasCardsRoutersAndOtherMtus) {
  Setting setting = sample_setting(folder_.file("new"));
  setting.machine.interfaces[1].mtu = 9216;
  setting.machine.interfaces[2].mtu = 1508;
  const Answers answers = parse_answers(
      "lan: eth1\nwan: 01:00.0\npeer_lan: \"@a\"\naddress: \"2001:db8::1/64\"\n"
      "peer_address: \"2001:db8:1::1/64\"\nnext_hop: \"2001:db8::f\"\n"
      "peer_next_hop: \"2001:db8:1::f\"\n",
      "answers.yaml", setting);
  const config::Gateway here = load(answers, Side::kHere);
  EXPECT_EQ(here.lan.mtu, 9000);
  EXPECT_EQ(here.wan.pci, "0000:01:00.0");
  EXPECT_EQ(here.gateway.next_hop->to_string(), "2001:db8::f");
  const config::Gateway there = load(answers, Side::kThere);
  EXPECT_EQ(there.lan.interface, "@a");
  // A gateway has made room for VLAN tags.
  EXPECT_EQ(parse_answers("wan: eth2\n", "answers.yaml", setting).here.wan.mtu, 1500);
  EXPECT_EQ(there.gateway.next_hop->to_string(), "2001:db8:1::f");
}

TEST_F(Configuration, NamesTheSourceOfAnOverhead) {
  const std::string text = configuration_text(answers_of("overhead: mpe\n"), Side::kHere, secret_);
  EXPECT_NE(text.find("overhead: 50"), std::string::npos);
  EXPECT_NE(text.find("ETSI EN 301 192"), std::string::npos);
  EXPECT_NE(
      configuration_text(answers_of("overhead: 12\n"), Side::kHere, secret_).find("overhead: 12"),
      std::string::npos);
}

TEST(Scalar, IsQuotedWhereYamlNeedsIt) {
  for (const char* text : {"eth1", "null", "Null", "@eth", "a: b", "2001:db8::", "{x}", "", "a\"b",
                           "/etc/a b/psk", "back\\slash", "- x", "# x"}) {
    const YAML::Node node = YAML::Load("{k: " + scalar(text) + "}");
    ASSERT_TRUE(node["k"].IsScalar()) << text;
    EXPECT_EQ(node["k"].Scalar(), text);
  }
  EXPECT_EQ(scalar("/etc/satrelay/psk"), "/etc/satrelay/psk");
}

}  // namespace
}  // namespace satrelay::ctl::init::configuration_test
