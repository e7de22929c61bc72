// `security`: at the top level and per peer, missing and misspelt, with key files of every kind.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "config/checks/changes.h"
#include "config/readers/loader.h"

namespace satrelay::config::read_security_test {
namespace {

const std::string kKey(64, 'a');

class SecurityKeyTest : public ::testing::Test {
 protected:
  SecurityKeyTest() {
    std::filesystem::create_directory(folder_);
    write("psk", kKey + "\n");
  }
  ~SecurityKeyTest() override { std::filesystem::remove_all(folder_); }
  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  void write(const std::string& name, const std::string& text) const {
    std::ofstream(path(name)) << text;
    ::chmod(path(name).c_str(), 0600);
  }
  static std::string text(const std::string& top, const std::string& of_peer) {
    return "ports: {lan: {interface: eth1}, wan: {interface: eth2}}\n"
           "gateway: {address: 192.0.2.1/30}\n"
           "links: {sat: {send_rate: 50Mbit, receive_rate: 10Mbit}}\n" +
           top + "peers: [{address: 192.0.2.2" + of_peer + "}]\n";
  }
  static std::string error(const std::string& top, const std::string& of_peer = "") {
    try {
      parse_gateway(text(top, of_peer), "g.yaml");
    } catch (const ConfigError& e) {
      return e.what();
    }
    return "no error";
  }
  static Gateway parsed(const std::string& top, const std::string& of_peer = "") {
    return parse_gateway(text(top, of_peer), "g.yaml");
  }
  std::string psk(const std::string& name) const { return "{psk_file: " + path(name) + "}"; }

  std::filesystem::path folder_ =
      std::filesystem::temp_directory_path() / ("satrelay-security-" + std::to_string(::getpid()));
};

TEST_F(SecurityKeyTest, MustBeSaid) {
  EXPECT_EQ(error(""),
            "g.yaml:4:9: peers[0].security: is missing; write {psk_file: /etc/satrelay/psk}, here "
            "or for all peers at the top, or none if no other machine can reach the link");
}

TEST_F(SecurityKeyTest, IsNoneOnlyWhereItIsSaid) {
  EXPECT_FALSE(parsed("security: none\n").peers.at(0).security.keys);
  EXPECT_FALSE(parsed("", ", security: none").peers.at(0).security.keys);
}

TEST_F(SecurityKeyTest, ReadsTheKeys) {
  const Security one = parsed("security: " + psk("psk") + "\n").peers.at(0).security;
  EXPECT_EQ(one.psk_file, path("psk"));
  ASSERT_TRUE(one.keys);
  EXPECT_EQ(one.keys->current.bytes()[0], std::byte{0xaa});
  EXPECT_FALSE(one.keys->other);
  write("two", kKey + "\n" + std::string(64, 'b') + "\n");
  const Security two = parsed("", ", security: " + psk("two")).peers.at(0).security;
  ASSERT_TRUE(two.keys && two.keys->other);
  EXPECT_EQ(two.keys->other->bytes()[31], std::byte{0xbb});
}

TEST_F(SecurityKeyTest, OfAPeerComesBeforeThatOfAll) {
  EXPECT_FALSE(parsed("security: " + psk("psk") + "\n", ", security: none").peers[0].security.keys);
  EXPECT_TRUE(parsed("security: none\n", ", security: " + psk("psk")).peers[0].security.keys);
}

TEST_F(SecurityKeyTest, MistakesAreToldWithTheirPlace) {
  EXPECT_EQ(error("security: off\n"),
            "g.yaml:4:11: security: is not known here; write {psk_file: "
            "/etc/satrelay/psk}, or none");
  EXPECT_EQ(error("security: {}\n"),
            "g.yaml:4:11: security.psk_file: is missing; name the file that `satrelayctl keygen` "
            "has made");
  EXPECT_EQ(
      error("security: {psk_file: psk}\n"),
      "g.yaml:4:22: security.psk_file: is not an absolute path; write the path of the file that "
      "has the secret, like /etc/satrelay/psk");
  EXPECT_EQ(
      error("security: " + psk("absent") + "\n"),
      "g.yaml:4:22: security.psk_file: " + path("absent") +
          ": cannot be read: No such file or directory; correct the path, or make the file with "
          "satrelayctl keygen");
  write("short", "abc\n");
  EXPECT_EQ(error("security: " + psk("short") + "\n"),
            "g.yaml:4:22: security.psk_file: " + path("short") +
                ":1:4: 3 hexadecimal digits; a key has 64");
  ::chmod(path("psk").c_str(), 0644);
  // psk_file_test checks the advice, which names the group of the gateway's user.
  const std::string wrong = error("security: " + psk("psk") + "\n");
  EXPECT_TRUE(wrong.starts_with("g.yaml:4:22: security.psk_file: " + path("psk") +
                                ": has mode 0644, so others may read or write it; set it to 06"))
      << wrong;
}

TEST_F(SecurityKeyTest, KeysMayChangeAtRunTimeButNotWhetherThereAreAny) {
  const Gateway started = parsed("security: " + psk("psk") + "\n");
  write("psk", std::string(64, 'c') + "\n" + kKey + "\n");
  const Gateway rekeyed = parsed("security: " + psk("psk") + "\n");
  EXPECT_TRUE(needs_restart(started, rekeyed).empty());
  const Gateway open = parsed("security: none\n");
  EXPECT_EQ(needs_restart(started, open), std::vector<std::string>{"peers"});
  EXPECT_EQ(needs_restart(open, started), std::vector<std::string>{"peers"});
}

}  // namespace
}  // namespace satrelay::config::read_security_test
