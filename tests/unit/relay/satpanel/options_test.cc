#include "relay/satpanel/options.h"

#include <gtest/gtest.h>

#include <initializer_list>
#include <vector>

#include "relay/satpanel/snmp/agent.h"

namespace satrelay::panel::options_test {
namespace {

ServeOptions parse(std::initializer_list<const char*> words) {
  std::vector<const char*> argv{"satpanel"};
  argv.insert(argv.end(), words.begin(), words.end());
  const ParsedOptions parsed = parse_options(static_cast<int>(argv.size()), argv.data());
  return std::get<ServeOptions>(parsed.options.value());
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

}  // namespace
}  // namespace satrelay::panel::options_test
