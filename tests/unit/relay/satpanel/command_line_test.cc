#include "relay/satpanel/command_line.h"

#include <gtest/gtest.h>

#include "relay/satpanel/http/json_listing.h"

namespace satrelay::panel::command_line_test {
namespace {

using Json = nlohmann::ordered_json;

std::string line(const char* command, const char* arguments) {
  return line_of(*find_command(command), Json::parse(arguments));
}

TEST(CommandLine, IsMadeOfArgumentsInTheOrderOfTheTable) {
  EXPECT_EQ(line("bypass", R"({"STATE": "on"})"), "bypass on");
  EXPECT_EQ(line("capacity", R"({"RATE": "12Mbit", "WAY": "send", "LINK": "sat"})"),
            "capacity sat send 12Mbit");
  EXPECT_EQ(line("drain", "{}"), "drain");
  EXPECT_EQ(line("drain", R"({"TIMEOUT": "10min"})"), "drain 10min");
}

TEST(CommandLine, HasSettingsOrTheWordInTheirPlace) {
  EXPECT_EQ(line("set", R"({"RULE": "web", "SWITCH=VALUE": {"compress": "off", "ack": "local"}})"),
            "set web compress=off ack=local");
  EXPECT_EQ(line("class", R"({"NAME": "gold", "KEY=VALUE": {"weight": 4}})"),
            "class gold weight=4");
  EXPECT_EQ(line("class", R"({"NAME": "gold", "KEY=VALUE": "configured"})"),
            "class gold configured");
}

TEST(CommandLine, RefusesWhatTheTableDoesNotHave) {
  EXPECT_THROW(line("bypass", "{}"), BadRequest);
  EXPECT_THROW(line("bypass", R"({"STATE": "maybe"})"), BadRequest);
  EXPECT_THROW(line("bypass", R"({"STATE": "on", "MORE": "on"})"), BadRequest);
  EXPECT_THROW(line("bypass", R"(["on"])"), BadRequest);
  EXPECT_THROW(line("set", R"({"RULE": "web", "SWITCH=VALUE": {}})"), BadRequest);
  EXPECT_THROW(line("set", R"({"RULE": "web", "SWITCH=VALUE": {"speed": "fast"}})"), BadRequest);
  EXPECT_EQ(find_command("quit"), nullptr);
  EXPECT_EQ(find_command("reload result"), nullptr);
}

// A value must be one word. A second command in it would run without a check of the user's rights.
TEST(CommandLine, LetsNoValueEndTheLine) {
  for (const char* value : {"on\ndrain", "on drain", "on\tdrain", "on\r", "", "on\u007f"}) {
    const Json arguments{{"STATE", value}};
    EXPECT_THROW(line_of(*find_command("bypass"), arguments), BadRequest) << value;
    const Json of_name{{"PEER", value}, {"RATE", "configured"}};
    EXPECT_THROW(line_of(*find_command("rate"), of_name), BadRequest) << value;
  }
}

TEST(CommandLine, SaysWhoMayGiveWhat) {
  EXPECT_EQ(role_for(*find_command("bypass")), Role::kOperator);
  EXPECT_EQ(role_for(*find_command("drain")), Role::kAdministrator);
  EXPECT_EQ(role_for(*find_command("reload")), Role::kAdministrator);
  for (const Json& command : describe_commands(Role::kOperator)) {
    EXPECT_EQ(command["allowed"], command["role"] == "operator") << command;
  }
}

}  // namespace
}  // namespace satrelay::panel::command_line_test
