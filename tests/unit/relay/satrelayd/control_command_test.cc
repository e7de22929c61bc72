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

TEST(ControlCommand, RateNamesAPeer) {
  const ControlParse parse = parse_control_command("rate ship 20Mbit");
  ASSERT_TRUE(parse.command);
  EXPECT_EQ(std::get<SetPeerRate>(*parse.command).peer, "ship");
  EXPECT_EQ(std::get<SetPeerRate>(*parse.command).most, BitRate::bits_per_second(20'000'000));
  const ControlParse back = parse_control_command("rate ship configured");
  ASSERT_TRUE(back.command);
  EXPECT_TRUE(std::get<SetPeerRate>(*back.command).most.is_zero());
  EXPECT_EQ(refusal("rate ship 999bit"), "rate: write 1kbit or more, like 12Mbit, or configured");
  EXPECT_EQ(refusal("rate ship"), "write: rate PEER RATE|configured");
}

TEST(ControlCommand, SetNamesARuleAndItsSwitches) {
  const ControlParse parse =
      parse_control_command("set web compress=off handshake=remote ack=end-to-end window=mirror");
  ASSERT_TRUE(parse.command);
  const auto& set = std::get<SetRule>(*parse.command);
  EXPECT_EQ(set.rule, "web");
  EXPECT_EQ(set.change.compress, config::Compress::kOff);
  EXPECT_EQ(set.change.handshake, config::HandshakeMode::kRemote);
  EXPECT_EQ(set.change.ack, config::AckMode::kEndToEnd);
  EXPECT_EQ(set.change.window, config::WindowMode::kMirror);
  EXPECT_FALSE(set.change.close);
  EXPECT_EQ(refusal("set 1 compress=yes"), "compress: allowed: off, auto, on");
  for (const char* wrong : {"set", "set 1", "set 1 speed=high", "set 1 compress",
                            "set 1 compress=on compress=off", "set 1 compress= on"}) {
    EXPECT_FALSE(parse_control_command(wrong).command) << wrong;
  }
}

TEST(ControlCommand, BypassAndDrain) {
  const auto bypass = [](std::string_view line) {
    return std::get<SetBypass>(*parse_control_command(line).command).admission;
  };
  EXPECT_EQ(bypass("bypass on"), gateway::Admission::kBypass);
  EXPECT_EQ(bypass("bypass off"), gateway::Admission::kOpen);
  EXPECT_NE(refusal("bypass").find("on|off"), std::string::npos);
  EXPECT_NE(refusal("bypass maybe").find("on|off"), std::string::npos);
  const auto drain = [](std::string_view line) {
    return std::get<StartDrain>(*parse_control_command(line).command).timeout;
  };
  EXPECT_TRUE(drain("drain").is_infinite());
  EXPECT_EQ(drain("drain 10min"), Duration::seconds(600));
  for (const char* timeout : {"0s", "25h", "soon", "1min 2min"}) {
    EXPECT_NE(refusal("drain " + std::string(timeout)).find("1s to 24h"), std::string::npos);
  }
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
