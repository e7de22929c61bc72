// The commands of satlink's control socket.
#include "relay/satlink/control_command.h"

#include <gtest/gtest.h>

namespace satrelay::satlink::control_command_test {
namespace {

template <typename Command>
Command parsed(std::string_view line) {
  const ControlParse parse = parse_control_command(line);
  EXPECT_TRUE(parse.command) << line << ": " << parse.error;
  const Command* command = parse.command ? std::get_if<Command>(&*parse.command) : nullptr;
  EXPECT_NE(command, nullptr) << line;
  return command != nullptr ? *command : Command{};
}

TEST(ControlCommand, ReadsEachCommand) {
  const auto rate = parsed<SetRate>("set a_to_b rate 10Mbit");
  EXPECT_EQ(rate.side, Side::kAToB);
  EXPECT_EQ(rate.rate, BitRate::bits_per_second(10'000'000));
  EXPECT_TRUE(parsed<SetRate>("set both rate unlimited").rate.is_zero());
  const auto loss = parsed<SetLoss>("  set\tb_to_a loss  5% \r");
  EXPECT_EQ(loss.side, Side::kBToA);
  EXPECT_DOUBLE_EQ(loss.loss, 0.05);
  EXPECT_DOUBLE_EQ(parsed<SetLoss>("set both loss 0.05").loss, 0.05);
  EXPECT_EQ(parsed<SetOutage>("outage on").side, Side::kBoth);
  EXPECT_EQ(parsed<SetOutage>("outage on").outage, Outage::kOn);
  EXPECT_EQ(parsed<SetOutage>("outage b_to_a off").outage, Outage::kOff);
  parsed<ShowCounters>("counters");
  parsed<ShowHelp>("help");
  parsed<Quit>("quit");
}

TEST(ControlCommand, RefusesAllElseWithAReason) {
  for (const std::string_view line : {"",
                                      "   ",
                                      "set",
                                      "set both",
                                      "set both rate",
                                      "set both rate 5",
                                      "set both rate 5zonk",
                                      "set both rate 0bit",
                                      "set both rate 200Gbit",
                                      "set both rate -1Mbit",
                                      "set c rate 5Mbit",
                                      "set both delay 5ms",
                                      "set both loss 1.5",
                                      "set both loss 101%",
                                      "set both loss -1%",
                                      "set both loss nan",
                                      "set both loss inf",
                                      "set both loss 5% extra",
                                      "outage",
                                      "outage maybe",
                                      "outage both",
                                      "outage x on",
                                      "outage both on off",
                                      "counters now",
                                      "quit now",
                                      "SET",
                                      "set both rate 99999999999999999999Gbit"}) {
    const ControlParse parse = parse_control_command(line);
    EXPECT_FALSE(parse.command) << line;
    EXPECT_FALSE(parse.error.empty()) << line;
    EXPECT_EQ(parse.error.find('\n'), std::string::npos);
  }
  EXPECT_FALSE(parse_control_command(std::string("set\0both", 8)).command);
  EXPECT_FALSE(parse_control_command(std::string(256, 'x')).command);
}

}  // namespace
}  // namespace satrelay::satlink::control_command_test
