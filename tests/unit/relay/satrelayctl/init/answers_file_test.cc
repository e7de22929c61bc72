#include "relay/satrelayctl/init/answers_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>
#include <string>

#include "config/text/error.h"
#include "tests/unit/relay/satrelayctl/init/sample_setting.h"
#include "tests/unit/temporary_folder.h"

namespace satrelay::ctl::init::answers_file_test {
namespace {

Answers answers_in(const std::string& text, const Setting& setting) {
  return parse_answers(text, "answers.yaml", setting);
}

// Returns the message about a mistake, or "accepted".
std::string refusal_of(const std::string& text, const Setting& setting) {
  try {
    answers_in(text, setting);
  } catch (const config::ConfigError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(AnswersFile, HasADefaultForEachKeyButKnownRates) {
  const TemporaryFolder folder;
  const Setting setting = sample_setting(folder.file("new"));
  const Answers answers = answers_in("role: terminal\n", setting);
  EXPECT_EQ(answers.folder, folder.file("new"));
  EXPECT_EQ(answers.here.name, "station");
  EXPECT_EQ(answers.there.name, "hub");
  EXPECT_EQ(answers.here.lan.interface, "eth1");
  EXPECT_EQ(answers.here.wan.interface, "eth2");
  EXPECT_EQ(answers.there.lan.interface, "eth1");
  EXPECT_EQ(answers.here.address->own.to_string(), "192.0.2.2");
  EXPECT_EQ(answers.there.address->own.to_string(), "192.0.2.1");
  EXPECT_TRUE(answers.terminal_hosts.empty());
  EXPECT_TRUE(answers.finds_capacity);
  EXPECT_FALSE(answers.send_rate);
  EXPECT_EQ(answers.secret, SecretSource::kMake);
}

TEST(AnswersFile, ReadsEachKey) {
  const TemporaryFolder folder;
  const Answers answers = answers_in(
      "folder: " + folder.file("x") +
          "\nrole: hub\nsite: teleport\npeer: ship\ntake_used_ports: yes\nlan: 01:00.0\n"
          "wan: eth0\npeer_lan: enp3s0\npeer_wan: 0000:02:00.1\naddress: 192.0.2.10/29\n"
          "peer_address: 203.0.113.5/29\nnext_hop: 192.0.2.9\npeer_next_hop: 203.0.113.1\n"
          "terminal_hosts: [198.51.100.0/24, \"2001:db8:2::/48\"]\noverhead: gse\n"
          "capacity: known\nsend_rate: 50Mbit\nreceive_rate: 10Mbit\nhandshake: remote\n"
          "secret: none\n",
      {.machine = sample_machine(), .existing = Existing::kKeep, .folder = std::nullopt});
  EXPECT_EQ(answers.folder, folder.file("x"));
  EXPECT_EQ(answers.role, Role::kHub);
  EXPECT_EQ(answers.here.lan.pci, "0000:01:00.0");
  EXPECT_EQ(answers.here.wan.interface, "eth0");
  EXPECT_EQ(answers.there.wan.pci, "0000:02:00.1");
  EXPECT_TRUE(answers.is_routed());
  EXPECT_EQ(answers.here.next_hop->to_string(), "192.0.2.9");
  EXPECT_EQ(answers.there.next_hop->to_string(), "203.0.113.1");
  EXPECT_EQ(answers.terminal_hosts.size(), 2U);
  EXPECT_EQ(answers.overhead, 10U);
  EXPECT_EQ(answers.send_rate, BitRate::bits_per_second(50'000'000));
  EXPECT_EQ(answers.handshake, config::HandshakeMode::kRemote);
  EXPECT_EQ(answers.secret, SecretSource::kNone);
}

struct Mistake {
  const char* text;
  const char* message;  // how the message begins
};

TEST(AnswersFile, RefusesMistakesWithPlaceAndCure) {
  const Mistake kMistakes[] = {
      {"", "answers.yaml: is empty"},
      {"role: [hub\n", "answers.yaml:2:1: is not YAML: "},
      {"- hub\n", "answers.yaml:1:1: is a list; write a map; allowed keys: folder, role, "},
      {"rolle: hub\n", "answers.yaml:1:1: rolle: unknown key; did you mean role? "},
      {"role: hub\nrole: hub\n", "answers.yaml:2:1: role: is given twice, first in line 1; "},
      {"role: boss\n",
       "answers.yaml:1:7: role: \"boss\" is not known here; allowed: hub, terminal"},
      {"role: {a: b}\n", "answers.yaml:1:7: role: is a map; write one word"},
      {"site: a b\n", "answers.yaml:1:7: site: \"a b\" is not a name; write 1 to 32 letters, "},
      {"site:\n", "answers.yaml:1:1: site: is empty; write a name, like teleport"},
      {"site: a\npeer: a\n",
       "answers.yaml:2:7: peer: is the name of this site already; write another"},
      {"lan: lo\n",
       "answers.yaml:1:6: lan: \"lo\" is the loopback, which no cable reaches; write another"},
      {"lan: eth9\n",
       "answers.yaml:1:6: lan: \"eth9\" is not an interface of this machine; there are: eth0, "},
      {"lan: eth0\n",
       "answers.yaml:1:6: lan: \"eth0\" carries the default route and an ssh session of this "
       "machine, which a gateway would cut off; write another interface, or take_used_ports: yes"},
      {"lan: eth3\n",
       "answers.yaml:1:6: lan: \"eth3\" has an MTU of 300; a gateway needs 576 or more"},
      {"lan: 0000:09:00.0\n", "answers.yaml:1:6: lan: \"0000:09:00.0\" is not a network card "},
      {"lan: 00:0g:0\n", "answers.yaml:1:6: lan: \"00:0g:0\" is not a PCI address; "},
      {"lan: eth1\nwan: eth1\n",
       "answers.yaml:2:6: wan: \"eth1\" is the LAN port already; write the port towards the "},
      {"peer_lan: a\npeer_wan: a\n",
       "answers.yaml:2:11: peer_wan: \"a\" is the LAN port already; "},
      {"take_used_ports: maybe\n",
       "answers.yaml:1:18: take_used_ports: \"maybe\" is not known here; allowed: yes, no"},
      {"address: 192.0.2.1\n",
       "answers.yaml:1:10: address: \"192.0.2.1\" is not an address with a length; write "},
      {"address: 192.0.2.0/30\n",
       "answers.yaml:1:10: address: 192.0.2.0 is the address of the subnet itself; "},
      {"address: 192.0.2.1/30\npeer_address: 192.0.2.1\n",
       "answers.yaml:2:15: peer_address: 192.0.2.1 is this gateway's own address; "},
      {"peer_address: 203.0.113.5\n",
       "answers.yaml:1:15: peer_address: \"203.0.113.5\" is not in the subnet of this gateway, "
       "192.0.2.0/30; write an address in it, or the length of its own subnet as well, like "
       "203.0.113.5/30"},
      {"peer_address: 192.0.2.1/29\n",
       "answers.yaml:1:15: peer_address: \"192.0.2.1/29\" is in the subnet of this gateway, and "},
      {"peer_address: 203.0.113.5/29\n",
       "answers.yaml:1:1: next_hop: is missing; answer: Router towards the other gateway"},
      {"peer_address: 203.0.113.5/29\nnext_hop: none\n",
       "answers.yaml:2:11: next_hop: is needed: the two gateways are in different subnets; write "},
      {"peer_address: 203.0.113.5/29\nnext_hop: 198.51.100.1\n",
       "answers.yaml:2:11: next_hop: 198.51.100.1 is not in the gateway's subnet 192.0.2.0/30; "},
      {"terminal_hosts: 198.51.100.1/24\n",
       "answers.yaml:1:17: terminal_hosts: \"198.51.100.1/24\" has bits set beyond its length; "
       "write 198.51.100.0/24"},
      {"terminal_hosts: []\n", "answers.yaml:1:17: terminal_hosts: is empty; write prefixes, "},
      {"terminal_hosts: [10.0.0.0/8, 10.1.0.0/16]\n",
       "answers.yaml:1:17: terminal_hosts: 10.1.0.0/16 overlaps 10.0.0.0/8 "},
      {"overhead: dvb\n", "answers.yaml:1:11: overhead: \"dvb\" is not an overhead; write "},
      {"overhead: 2000\n", "answers.yaml:1:11: overhead: \"2000\" is out of range; "},
      {"capacity: measure\n",
       "answers.yaml:1:11: capacity: \"measure\" is not known here; allowed: known, find"},
      {"capacity: known\n", "answers.yaml:1:1: send_rate: is missing; answer: Rate that the "},
      {"capacity: known\nsend_rate: none\n",
       "answers.yaml:2:12: send_rate: is needed with capacity: known; write a number with bit, "},
      {"send_rate: 50Mb\n", "answers.yaml:1:12: send_rate: \"50Mb\" is not a rate; write "},
      {"send_rate: 1bit\n", "answers.yaml:1:12: send_rate: \"1bit\" is out of range; allowed: "},
      {"handshake: soon\n", "answers.yaml:1:12: handshake: \"soon\" is not known here; allowed: "},
      {"secret: psk\n", "answers.yaml:1:9: secret: \"psk\" is not the path of a file; write "},
      {"secret: /nonexistent/psk\n",
       "answers.yaml:1:9: secret: /nonexistent/psk: cannot be read: No such file or directory"},
      {"secret: /usr\n",
       "answers.yaml:1:9: secret: /usr: is not a regular file; write the path of one"},
      {"role: hub\n---\nrole: hub\n", "answers.yaml:3:1: a second document begins here; "},
  };
  const TemporaryFolder folder;
  const Setting setting = sample_setting(folder.file("new"));
  for (const Mistake& mistake : kMistakes) {
    const std::string refusal = refusal_of(mistake.text, setting);
    EXPECT_TRUE(refusal.starts_with(mistake.message)) << mistake.text << "\n" << refusal;
  }
  EXPECT_EQ(answers_in("role: hub\nlan: eth0\ntake_used_ports: yes\n", setting).here.lan.interface,
            "eth0");
}

TEST(AnswersFile, RefusesFilesThatAreThere) {
  const TemporaryFolder folder;
  Setting setting = sample_setting(folder.path().string());
  std::ofstream(folder.file("gateway.yaml")) << "kept";
  const std::string refusal = refusal_of("role: hub\n", setting);
  EXPECT_EQ(refusal, "answers.yaml:1:1: folder: is missing, and its default " +
                         folder.path().string() + " is refused: " + folder.file("gateway.yaml") +
                         " exists; write another folder, or start again with --force, which keeps "
                         "a backup");
  setting.existing = Existing::kReplace;
  EXPECT_EQ(refusal_of("role: hub\n", setting), "accepted");
  // The key is a folder.
  ASSERT_EQ(::mkdir(folder.file("psk").c_str(), 0700), 0);
  EXPECT_EQ(refusal_of("secret: make\n", setting),
            "answers.yaml:1:9: secret: " + folder.file("psk") + " is a folder; move it away");
  EXPECT_EQ(refusal_of("secret: " + folder.file("psk") + "\n", setting),
            "answers.yaml:1:9: secret: " + folder.file("psk") +
                ": is not a regular file; write the path of one");
}

TEST(AnswersFile, TemplateIsAFileOfAnswers) {
  const TemporaryFolder folder;
  const Setting setting = sample_setting(folder.file("new"));
  const std::string text = answers_template(setting);
  for (const Question& question : questions()) {
    EXPECT_NE(text.find("\n" + std::string(question.key) + ": "), std::string::npos)
        << question.key;
  }
  const Answers answers = answers_in(text, setting);
  EXPECT_EQ(answers.here.wan.interface, "eth2");
  EXPECT_EQ(answers.there.name, "hub");
}

TEST(AnswersFile, IsNamedIfItCannotBeRead) {
  const TemporaryFolder folder;
  const Setting setting = sample_setting(folder.file("new"));
  EXPECT_THROW(read_answers_file("/nonexistent", setting), config::ConfigError);
  EXPECT_THROW(read_answers_file(folder.path(), setting), config::ConfigError);
}

}  // namespace
}  // namespace satrelay::ctl::init::answers_file_test
