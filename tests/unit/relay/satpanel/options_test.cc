#include "relay/satpanel/options.h"

#include <gtest/gtest.h>

#include <initializer_list>
#include <string>
#include <vector>

#include "relay/satpanel/snmp/agent.h"

namespace satrelay::panel::options_test {
namespace {

ParsedOptions parsed(std::initializer_list<const char*> words) {
  std::vector<const char*> argv{"satpanel"};
  argv.insert(argv.end(), words.begin(), words.end());
  return parse_options(static_cast<int>(argv.size()), argv.data());
}

ServeOptions parse(std::initializer_list<const char*> words) {
  return std::get<ServeOptions>(parsed(words).options.value());
}

TEST(Options, SnmpIsSpokenIfItIsAskedFor) {
  EXPECT_EQ(parse({}).agentx, "");
  EXPECT_EQ(parse({"--agentx"}).agentx, SnmpAgent::kUsualSocket);
  EXPECT_EQ(parse({"--agentx", "--name", "hub"}).agentx, SnmpAgent::kUsualSocket);
  EXPECT_EQ(parse({"--agentx", "/run/agentx"}).agentx, "/run/agentx");
}

TEST(Options, HaveNoWebhooksByThemselves) {
  EXPECT_EQ(parse({}).webhooks, "");
  EXPECT_EQ(parse({"--webhook", "hooks.yaml"}).webhooks, "hooks.yaml");
}

TEST(Options, ListenAtTheLoopbackAddressByThemselves) {
  EXPECT_EQ(parse({}).server.address, "127.0.0.1");
  EXPECT_EQ(parse({}).server.port, 8440);
  EXPECT_EQ(parse({"--listen", "[::1]:80"}).server.address, "::1");
}

// A panel that other machines can reach needs users and a certificate. Without them it does not
// start.
TEST(Options, ElsewhereTheyNeedUsersAndACertificate) {
  for (const char* where : {"192.0.2.1:8440", "0.0.0.0:8440", "[::]:8440", "[2001:db8::1]:8440",
                            "[::ffff:127.0.0.1]:8440"}) {
    EXPECT_EQ(parsed({"--listen", where}).exit, 2) << where;
    EXPECT_EQ(parsed({"--listen", where, "--users", "u"}).exit, 2) << where;
    EXPECT_EQ(parsed({"--listen", where, "--certificate", "c", "--key", "k"}).exit, 2) << where;
    EXPECT_TRUE(
        parsed({"--listen", where, "--users", "u", "--certificate", "c", "--key", "k"}).options)
        << where;
  }
  for (const char* where : {"127.0.0.1:0", "127.8.9.10:8440", "[::1]:8440"}) {
    EXPECT_TRUE(parsed({"--listen", where}).options) << where;
  }
}

TEST(Options, ObjectInWordsOfWhatIsMissing) {
  ServeOptions options;
  options.server.address = "192.0.2.1";
  EXPECT_NE(object_to(options).find("--users"), std::string::npos);
  options.users = "u";
  EXPECT_NE(object_to(options).find("--certificate"), std::string::npos);
  options.server.certificate = "c";
  EXPECT_NE(object_to(options).find("belong together"), std::string::npos);
  options.server.key = "k";
  EXPECT_EQ(object_to(options), "");
  // A key without its certificate is an error even if only local clients connect.
  ServeOptions local;
  local.server.key = "k";
  EXPECT_NE(object_to(local), "");
}

TEST(Options, AnAddressToListenAtHasAPort) {
  const auto v4 = parse_listen("192.0.2.1:65535");
  ASSERT_TRUE(v4);
  EXPECT_EQ(v4->address, "192.0.2.1");
  EXPECT_EQ(v4->port, 65535);
  const auto v6 = parse_listen("[2001:db8::1]:0");
  ASSERT_TRUE(v6);
  EXPECT_EQ(v6->address, "2001:db8::1");
  EXPECT_EQ(v6->port, 0);
  for (const char* wrong : {"", "8440", ":8440", "127.0.0.1", "127.0.0.1:", "127.0.0.1:x",
                            "127.0.0.1:65536", "127.0.0.1:-1", "localhost:8440", "::1:8440",
                            "[::1]", "[127.0.0.1]:80", "[::1:80", "127.0.0.1:80 "}) {
    EXPECT_FALSE(parse_listen(wrong)) << wrong;
  }
}

TEST(Options, OfAPanelForThisMachineTheNamesAreKnown) {
  ServeOptions options;
  options.server.address = "127.0.0.2";
  options.hosts = {"panel.example"};
  EXPECT_EQ(known_hosts(options), (std::vector<std::string>{"localhost", "127.0.0.1", "[::1]",
                                                            "127.0.0.2", "panel.example"}));
  options.server.address = "::1";
  EXPECT_EQ(known_hosts(options).at(3), "[::1]");
  options.server.address = "192.0.2.1";
  EXPECT_TRUE(known_hosts(options).empty()) << "others may call it by any name";
}

}  // namespace
}  // namespace satrelay::panel::options_test
