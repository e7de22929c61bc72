#include "relay/satpanel/webhooks/hook.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <stdexcept>

#include "tests/unit/temporary_folder.h"

namespace satrelay::panel::hook_test {
namespace {

using Json = nlohmann::ordered_json;

class HookTest : public testing::Test {
 protected:
  HookTest() { write_secret("secret", "0123456789abcdef\n", 0600); }
  void write_secret(const std::string& name, const std::string& text, unsigned mode) const {
    std::ofstream(folder_.file(name)) << text;
    std::filesystem::permissions(folder_.file(name), std::filesystem::perms(mode));
  }
  std::vector<Hook> load(const std::string& text) const {
    std::ofstream(file_) << text;
    return load_hooks(file_);
  }
  // Returns the error message of load(), without the folder; "" if there is none.
  std::string complaint(const std::string& text) const {
    try {
      load(text);
    } catch (const std::runtime_error& error) {
      std::string said = error.what();
      const std::string folder = folder_.path().string() + '/';
      for (auto at = said.find(folder); at != std::string::npos; at = said.find(folder)) {
        said.erase(at, folder.size());
      }
      return said;
    }
    return "";
  }
  TemporaryFolder folder_;
  std::string file_ = folder_.file("hooks");
};

TEST_F(HookTest, HasWhatTheFileSays) {
  const auto hooks = load(
      "- {url: 'https://alarms.example/satrelay', secret_file: secret}\n"
      "- {name: pager, url: 'http://127.0.0.1:8080/', secret_file: secret, severity: error,\n"
      "   events: [peer_lost, port_down]}\n");
  ASSERT_EQ(hooks.size(), 2U);
  EXPECT_EQ(hooks[0].name, "alarms.example");
  EXPECT_EQ(hooks[0].secret, "0123456789abcdef");
  EXPECT_EQ(hooks[0].severity, ops::Severity::kWarning);
  EXPECT_EQ(hooks[1].name, "pager");
  EXPECT_EQ(hooks[1].events, (std::vector<std::string>{"peer_lost", "port_down"}));
}

TEST_F(HookTest, IsRefusedWithTheLine) {
  const std::string good = "- url: 'https://a.example/'\n  secret_file: secret\n";
  EXPECT_EQ(complaint(good + "  severity: bad\n"),
            "hooks:3: severity: write info, warning or error");
  EXPECT_EQ(complaint(good + "  events: [peer_lots]\n"),
            "hooks:3: events: there is no peer_lots; peer_lost is meant?");
  EXPECT_EQ(complaint(good + "  events: peer_lost\n"),
            "hooks:3: events: write a list of names, like [peer_lost]");
  EXPECT_EQ(
      complaint(good + "  retries: 3\n"),
      "hooks:3: unknown key retries; write name, url, ca_file, secret_file, severity or events");
  EXPECT_EQ(complaint(good + good), "hooks:3: there is a hook a.example already; give each a name");
  EXPECT_EQ(complaint("- url: 'ftp://a.example/'\n"), "hooks:1: url: write https or http, not ftp");
  EXPECT_EQ(complaint("- url: 'file:///etc/passwd'\n"),
            "hooks:1: url: write https or http, not file");
  EXPECT_EQ(complaint("- url: alarms\n"),
            "hooks:1: url: write one like https://alarms.example/satrelay");
  EXPECT_EQ(complaint("- url: 'https://bob:word@a.example/'\n"),
            "hooks:1: url: remove the user; the signature authenticates the events");
  EXPECT_EQ(complaint(good + "  ca_file: nobody.pem\n"),
            "hooks:3: ca_file: nobody.pem cannot be read");
  EXPECT_EQ(complaint("- {secret_file: secret}\n"), "hooks:1: a hook without a url");
  EXPECT_EQ(complaint("- {url: 'https://a.example/'}\n"), "hooks:1: a hook without a secret_file");
  EXPECT_EQ(complaint("url: 'https://a.example/'\n"),
            "hooks:1: write a list of hooks: - {url: ..., secret_file: ...}");
  EXPECT_EQ(complaint("- [\n").substr(0, 8), "hooks:2:");
  EXPECT_EQ(complaint("- {url: [1], secret_file: secret}\n"), "hooks:1: url: write one value");
}

TEST_F(HookTest, NeedsASecretThatOthersDoNotKnow) {
  const auto with = [](const std::string& name) {
    return "- url: 'https://a.example/'\n  secret_file: " + name + "\n";
  };
  EXPECT_EQ(complaint(with("nowhere")), "hooks:2: secret_file: nowhere cannot be read");
  write_secret("open", "0123456789abcdef\n", 0644);
  EXPECT_EQ(complaint(with("open")),
            "hooks:2: secret_file: others may read open; set its mode to 0600 or 0640");
  write_secret("short", "0123456789abcde\n", 0600);
  EXPECT_EQ(complaint(with("short")),
            "hooks:2: secret_file: short has less than 16 characters; `openssl rand -hex 32` makes "
            "a secret");
  write_secret("long", std::string(2000, 'x'), 0600);
  EXPECT_NE(complaint(with("long")), "");
}

TEST(Hook, WantsWhatIsBadEnoughAndNamed) {
  const Json lost{{"name", "peer_lost"}, {"severity", "error"}};
  const Json silent{{"name", "peer_silent"}, {"severity", "warning"}};
  const Json alive{{"name", "peer_alive"}, {"severity", "info"}};
  Hook hook;
  EXPECT_TRUE(wants(hook, lost));
  EXPECT_TRUE(wants(hook, silent));
  EXPECT_FALSE(wants(hook, alive));
  hook.severity = ops::Severity::kError;
  EXPECT_FALSE(wants(hook, silent));
  EXPECT_TRUE(wants(hook, Json{{"name", "peer_lost"}, {"severity", "catastrophe"}}));
  hook = {.severity = ops::Severity::kInfo, .events = {"peer_alive"}};
  EXPECT_TRUE(wants(hook, alive));
  EXPECT_FALSE(wants(hook, lost));
}

}  // namespace
}  // namespace satrelay::panel::hook_test
