// The parts of satlink that need no port: command parsing and sizing.
#include <gtest/gtest.h>

#include "relay/satlink/control_command.h"
#include "relay/satlink/sizing.h"

namespace satrelay::satlink {
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

config::SatLink link_of(std::uint64_t bits_per_second, Duration delay) {
  config::SatLink config;
  config.a_to_b.rate = config.b_to_a.rate = BitRate::bits_per_second(bits_per_second);
  config.a_to_b.delay = config.b_to_a.delay = delay;
  return config;
}

TEST(Sizing, HoldsTheBandwidthDelayProductAndTheQueue) {
  const Sizing giga = size_for(link_of(1'000'000'000, Duration::milliseconds(550)), 2400);
  EXPECT_GE(giga.a_to_b_frames, (68'750'000U + 12'500'000U) / 1538U);
  EXPECT_LE(giga.a_to_b_frames, 70'000U);
  EXPECT_GT(giga.packets, giga.a_to_b_frames + giga.b_to_a_frames);
  const Sizing ten = size_for(link_of(10'000'000'000, Duration::milliseconds(600)), 2400);
  EXPECT_GE(ten.a_to_b_frames, 600'000U);
}

TEST(Sizing, GivesSlowLinksRoomForSmallFrames) {
  const Sizing slow = size_for(link_of(50'000'000, Duration::milliseconds(275)), 2400);
  EXPECT_EQ(slow.a_to_b_frames, 16384U);
  const Sizing slowest = size_for(link_of(1'000'000, Duration::milliseconds(275)), 2400);
  EXPECT_LT(slowest.a_to_b_frames, 3000U);
}

TEST(Sizing, LooksAtTheFastestAndLongestThatTheLinkWillBe) {
  config::SatLink config = link_of(10'000'000, Duration::milliseconds(25));
  const std::size_t before = size_for(config, 2400).a_to_b_frames;
  config.a_to_b.rate_steps = {{Duration::seconds(9), BitRate::bits_per_second(1'000'000'000)}};
  config.a_to_b.delay_steps = {{Duration::seconds(99), Duration::milliseconds(300)}};
  const Sizing sizing = size_for(config, 2400);
  // 37.5 MB on the way, and 12.5 MB in the queue, kept twice.
  EXPECT_GE(sizing.a_to_b_frames, 62'500'000U / 1538);
  EXPECT_EQ(sizing.b_to_a_frames, before);
}

TEST(Sizing, KeepsToTheConfiguredMemory) {
  config::SatLink config = link_of(1'000'000'000, Duration::milliseconds(550));
  config.b_to_a.rate = BitRate::bits_per_second(100'000'000);
  config.memory = ByteCount(24'000'000);
  const Sizing sizing = size_for(config, 2400);
  EXPECT_LE(sizing.a_to_b_frames + sizing.b_to_a_frames, 10'000U);
  EXPECT_GE(sizing.a_to_b_frames + sizing.b_to_a_frames, 9'990U);
  EXPECT_GT(sizing.a_to_b_frames, 3 * sizing.b_to_a_frames);
}

}  // namespace
}  // namespace satrelay::satlink
