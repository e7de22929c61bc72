#include "relay/satrelayd/commands/setting.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <vector>

#include "tests/support/gateway_config.h"

namespace satrelay::satrelayd::setting_test {
namespace {

config::Gateway configuration() {
  const auto megabits = [](std::uint64_t n) { return BitRate::bits_per_second(n * 1'000'000); };
  config::Gateway config = test::gateway_config(
      {.rate = megabits(10)}, {test::peer_config("ship", "192.0.2.2", {"198.51.100.0/24"})});
  config.classes = {{.name = "voice", .guaranteed = megabits(2)}};
  config.rules.emplace_back().name = "web";
  config.limits.memory = ByteCount(8U << 20);
  return config;
}

class SettingTest : public testing::Test {
 protected:
  // Returns the kind, the subject, the value before, "-> " and the value after the command. The
  // command must succeed.
  std::string change(const std::string& line) {
    const ControlParse parse = parse_control_command(line);
    EXPECT_TRUE(parse.command) << parse.error;
    const auto before = setting_of(*parse.command, engines_, now_);
    if (!before) return "nothing";
    std::visit(
        [&](const auto& command) {
          using Command = std::decay_t<decltype(command)>;
          if constexpr (std::is_same_v<Command, SetRule>) {
            EXPECT_EQ(apply(command, engines_), "ok\n");
          } else if constexpr (requires { apply(command, engines_, now_); }) {
            EXPECT_EQ(apply(command, engines_, now_), "ok\n");
          } else if constexpr (std::is_same_v<Command, StartDrain>) {
            engines_.set_admission(gateway::Admission::kDraining, now_);
          }
        },
        *parse.command);
    const auto after = setting_of(*parse.command, engines_, now_);
    EXPECT_TRUE(after && after->kind == before->kind && after->subject == before->subject);
    return std::string(ops::describe(before->kind).name) + ' ' + before->subject + ": " +
           before->value + " -> " + after->value;
  }

  std::vector<std::byte> memory_{8U << 20};
  Instant now_ = Instant::from_nanoseconds(1);
  gateway::Gateway gateway_{
      configuration(), {.boot_epoch = 1, .secret = {1, 2}, .wan_mac = {}}, memory_, now_};
  Engines engines_{{&gateway_}};
};

TEST_F(SettingTest, ACapacityIsThatOfAWayOfALink) {
  EXPECT_EQ(change("capacity sat send 4Mbit"),
            "capacity_set link sat: send configured -> send 4Mbit");
  EXPECT_EQ(change("capacity sat receive 1500kbit"),
            "capacity_set link sat: receive configured -> receive 1500kbit");
  EXPECT_EQ(change("capacity sat send configured"),
            "capacity_set link sat: send 4Mbit -> send configured");
}

TEST_F(SettingTest, ARateIsThatOfAPeer) {
  EXPECT_EQ(change("rate ship 2Mbit"), "peer_rate_set peer ship: configured -> 2Mbit");
  EXPECT_EQ(change("rate ship 1234567bit"), "peer_rate_set peer ship: 2Mbit -> 1234567bit");
  EXPECT_EQ(change("rate ship configured"), "peer_rate_set peer ship: 1234567bit -> configured");
}

TEST_F(SettingTest, OfARuleItIsWhatTheCommandNames) {
  EXPECT_EQ(change("set web compress=off window=mirror"),
            "rule_set rule web: compress=auto window=rewrite -> compress=off window=mirror");
  EXPECT_EQ(change("set 1 handshake=remote ack=end-to-end close=confirmed delivery=prompt"),
            "rule_set rule 1: handshake=local ack=local close=local delivery=ordinary -> "
            "handshake=remote ack=end-to-end close=confirmed delivery=prompt");
  const ControlParse parse = parse_control_command("set other compress=off");
  EXPECT_FALSE(setting_of(*parse.command, engines_, now_));
}

TEST_F(SettingTest, OfAClassToo) {
  EXPECT_EQ(change("class voice weight=4"), "class_set class voice: weight=1 -> weight=4");
  EXPECT_EQ(change("class voice guaranteed=1Mbit maximum=3Mbit"),
            "class_set class voice: guaranteed=2Mbit maximum=none -> guaranteed=1Mbit "
            "maximum=3Mbit");
  EXPECT_EQ(change("class voice configured"),
            "class_set class voice: weight=4 guaranteed=1Mbit maximum=3Mbit -> weight=1 "
            "guaranteed=2Mbit maximum=none");
  const ControlParse parse = parse_control_command("class other weight=4");
  EXPECT_FALSE(setting_of(*parse.command, engines_, now_));
}

TEST_F(SettingTest, BypassAndDrainAreOfTheWholeGateway) {
  EXPECT_EQ(change("bypass on"), "bypass_set gateway: off -> on");
  EXPECT_EQ(change("bypass on"), "bypass_set gateway: on -> on");
  EXPECT_EQ(change("bypass off"), "bypass_set gateway: on -> off");
  EXPECT_EQ(change("drain"), "drain_begun gateway: open -> draining");
}

TEST_F(SettingTest, OtherCommandsSetNothing) {
  for (const char* line : {"reload", "reload result", "help", "quit"}) {
    EXPECT_EQ(change(line), "nothing") << line;
  }
}

}  // namespace
}  // namespace satrelay::satrelayd::setting_test
