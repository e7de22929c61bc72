#include "relay/satpanel/options.h"

#include <gtest/gtest.h>

#include <fstream>
#include <initializer_list>
#include <iterator>
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

// Returns the error message of options that are refused.
std::string told(const std::vector<const char*>& words) {
  std::vector<const char*> argv{"satpanel"};
  argv.insert(argv.end(), words.begin(), words.end());
  testing::internal::CaptureStderr();
  const ParsedOptions refused = parse_options(static_cast<int>(argv.size()), argv.data());
  EXPECT_EQ(refused.exit, 2);
  EXPECT_FALSE(refused.options);
  return testing::internal::GetCapturedStderr();
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

// The panel does not encrypt, so it does not listen where other machines reach it.
TEST(Options, ListenAtNoAddressThatOtherMachinesReach) {
  for (const char* where : {"192.0.2.1:8440", "0.0.0.0:8440", "[::]:8440", "[2001:db8::1]:8440",
                            "[::ffff:127.0.0.1]:8440"}) {
    EXPECT_EQ(parsed({"--listen", where}).exit, 2) << where;
    const std::string said = told({"--listen", where, "--users", "u"});
    EXPECT_NE(said.find("nginx"), std::string::npos) << said;
    EXPECT_NE(said.find("docs/panel.md, section \"From other machines\""), std::string::npos)
        << said;
  }
  for (const char* where : {"127.0.0.1:0", "127.8.9.10:8440", "[::1]:8440"}) {
    EXPECT_TRUE(parsed({"--listen", where}).options) << where;
  }
}

// A unit of an earlier version names a certificate and a key.
TEST(Options, SayWhatToDoInsteadOfACertificate) {
  for (const auto& words :
       {std::vector<const char*>{"--certificate", "c", "--key", "k"},
        {"--listen", "0.0.0.0:8440", "--users", "u", "--key=k", "--certificate=c"},
        {"--key", "k"},
        {"--certificate"}}) {
    const std::string said = told(words);
    EXPECT_NE(said.find("Remove --certificate and --key"), std::string::npos) << said;
    EXPECT_NE(said.find("nginx"), std::string::npos) << said;
    EXPECT_NE(said.find("section \"From other machines\""), std::string::npos) << said;
  }
  testing::internal::CaptureStdout();
  EXPECT_EQ(parsed({"--help"}).exit, 0);
  const std::string help = testing::internal::GetCapturedStdout();
  EXPECT_NE(help.find("--listen-group"), std::string::npos) << help;
  EXPECT_EQ(help.find("--certificate"), std::string::npos) << help;
  EXPECT_EQ(help.find("--key"), std::string::npos) << help;
}

TEST(Options, ListenAtASocketForAWebServer) {
  const ServeOptions options =
      parse({"--listen", "unix:/run/p.sock", "--users", "u", "--listen-group", "www-data"});
  EXPECT_EQ(options.server.socket, "/run/p.sock");
  EXPECT_EQ(options.listen_group, "www-data");
  // Through a web server, other machines reach the panel.
  EXPECT_NE(told({"--listen", "unix:/run/p.sock"}).find("--users"), std::string::npos);
  EXPECT_NE(told({"--listen-group", "www-data"}).find("unix:PATH"), std::string::npos);
}

TEST(Options, TheDocumentHasTheSectionThatARefusalNames) {
  std::ifstream file(std::string(SATRELAY_DOCS) + "/panel.md");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  EXPECT_NE(text.find("\n## From other machines\n"), std::string::npos);
}

TEST(Options, AnAddressToListenAtMayBeAPath) {
  const auto found = parse_listen("unix:/run/satpanel/panel.sock");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->socket, "/run/satpanel/panel.sock");
  EXPECT_EQ(found->address, "");
  EXPECT_TRUE(parse_listen("unix:/" + std::string(106, 'x')));
  for (const std::string& wrong :
       {std::string("unix:"), std::string("unix:panel.sock"), std::string("unix:./panel.sock"),
        std::string("unix://"), std::string("unix:/run/"), std::string("/run/satpanel/panel.sock"),
        std::string("UNIX:/run/p.sock"), "unix:/" + std::string(107, 'x')}) {
    EXPECT_FALSE(parse_listen(wrong)) << wrong;
  }
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
}

TEST(Options, AtASocketTheNamesAreThoseOfTheWebServer) {
  ServeOptions options;
  options.server.socket = "/run/p.sock";
  EXPECT_TRUE(known_hosts(options).empty()) << "the web server decides";
  options.hosts = {"panel.example"};
  EXPECT_EQ(known_hosts(options), (std::vector<std::string>{"panel.example"}));
}

}  // namespace
}  // namespace satrelay::panel::options_test
