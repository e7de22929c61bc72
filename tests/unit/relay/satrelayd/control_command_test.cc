#include "relay/satrelayd/control_command.h"

#include <gtest/gtest.h>

namespace satrelay::satrelayd {
namespace {

std::string refusal(std::string_view line) {
  const ControlParse parse = parse_control_command(line);
  return parse.command ? "" : parse.error;
}

TEST(ControlCommand, CapacityNamesLinkWayAndRate) {
  const ControlParse parse = parse_control_command("  capacity sat\treceive 12Mbit\r");
  ASSERT_TRUE(parse.command);
  const auto& set = std::get<SetCapacity>(*parse.command);
  EXPECT_EQ(set.link, "sat");
  EXPECT_EQ(set.way, gateway::LinkWay::kReceive);
  EXPECT_EQ(set.capacity, BitRate::bits_per_second(12'000'000));
  const ControlParse back = parse_control_command("capacity sat send configured");
  ASSERT_TRUE(back.command);
  EXPECT_EQ(std::get<SetCapacity>(*back.command).way, gateway::LinkWay::kSend);
  EXPECT_TRUE(std::get<SetCapacity>(*back.command).capacity.is_zero());
}

TEST(ControlCommand, MistakesAreNamed) {
  EXPECT_NE(refusal("").find("empty"), std::string::npos);
  EXPECT_NE(refusal("capacity sat").find("LINK send|receive"), std::string::npos);
  EXPECT_NE(refusal("capacity sat send 1Mbit now").find("LINK send|receive"), std::string::npos);
  EXPECT_NE(refusal("capacity sat both 1Mbit").find("direction"), std::string::npos);
  for (const char* rate : {"0bit", "999bit", "1Mb", "-1Mbit", "fast"}) {
    EXPECT_NE(refusal("capacity sat send " + std::string(rate)).find("rate"), std::string::npos)
        << rate;
  }
  EXPECT_NE(refusal("reboot").find("unknown"), std::string::npos);
  EXPECT_NE(refusal("help me").find("unknown"), std::string::npos);
  EXPECT_TRUE(std::holds_alternative<ShowHelp>(*parse_control_command("help").command));
  EXPECT_TRUE(std::holds_alternative<Quit>(*parse_control_command("quit").command));
}

}  // namespace
}  // namespace satrelay::satrelayd
