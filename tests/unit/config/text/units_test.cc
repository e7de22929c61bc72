#include "config/text/units.h"

#include <gtest/gtest.h>

#include "config/text/format.h"

namespace satrelay::config::units_test {
namespace {

TEST(ParseRate, TakesEachUnit) {
  EXPECT_EQ(parse_rate("1bit"), BitRate::bits_per_second(1));
  EXPECT_EQ(parse_rate("64kbit"), BitRate::bits_per_second(64'000));
  EXPECT_EQ(parse_rate("50Mbit"), BitRate::bits_per_second(50'000'000));
  EXPECT_EQ(parse_rate("10Gbit"), BitRate::bits_per_second(10'000'000'000));
  EXPECT_EQ(parse_rate("50 Mbit"), BitRate::bits_per_second(50'000'000));
}

TEST(ParseRate, MultipliesDecimalsExactly) {
  EXPECT_EQ(parse_rate("0.1Gbit"), BitRate::bits_per_second(100'000'000));
  EXPECT_EQ(parse_rate("2.048Mbit"), BitRate::bits_per_second(2'048'000));
  EXPECT_EQ(parse_rate("1.10kbit"), BitRate::bits_per_second(1'100));
  EXPECT_EQ(parse_rate("0.5bit"), std::nullopt);
}

TEST(ParseRate, RefusesEverythingElse) {
  for (const char* text : {"",
                           "50",
                           "Mbit",
                           "50Mb",
                           "50mbit",
                           "50MBit",
                           "50Mbit/s",
                           "-5Mbit",
                           "+5Mbit",
                           ".5Mbit",
                           "5.Mbit",
                           "5..0Mbit",
                           "1e6bit",
                           "50Mbit ",
                           " 50Mbit",
                           "0x10bit",
                           "50MiB",
                           "5ms",
                           "99999999999999999999bit",
                           "9999999999999Gbit",
                           "0.00000000000000000000001Gbit"}) {
    EXPECT_EQ(parse_rate(text), std::nullopt) << text;
  }
}

TEST(ParseDuration, TakesEachUnit) {
  EXPECT_EQ(parse_duration("7ns"), Duration::nanoseconds(7));
  EXPECT_EQ(parse_duration("25us"), Duration::microseconds(25));
  EXPECT_EQ(parse_duration("550ms"), Duration::milliseconds(550));
  EXPECT_EQ(parse_duration("0.55s"), Duration::milliseconds(550));
  EXPECT_EQ(parse_duration("2min"), Duration::seconds(120));
  EXPECT_EQ(parse_duration("2h"), Duration::seconds(7200));
  EXPECT_EQ(parse_duration("0s"), Duration::zero());
}

TEST(ParseDuration, RefusesEverythingElse) {
  for (const char* text : {"", "550", "ms", "550msec", "5m", "5d", "-1s", "1Mbit", "0.5ns"}) {
    EXPECT_EQ(parse_duration(text), std::nullopt) << text;
  }
}

TEST(ParseSize, TellsPowersOf1000From1024) {
  EXPECT_EQ(parse_size("1500B"), ByteCount(1500));
  EXPECT_EQ(parse_size("64kB"), ByteCount(64'000));
  EXPECT_EQ(parse_size("64KiB"), ByteCount(65'536));
  EXPECT_EQ(parse_size("1MB"), ByteCount(1'000'000));
  EXPECT_EQ(parse_size("64MiB"), ByteCount(67'108'864));
  EXPECT_EQ(parse_size("1GB"), ByteCount(1'000'000'000));
  EXPECT_EQ(parse_size("1.5GiB"), ByteCount(1'610'612'736));
}

TEST(ParseSize, RefusesEverythingElse) {
  for (const char* text : {"", "64", "64M", "64mb", "64KB", "64Mbit", "-1B", "0.5B"}) {
    EXPECT_EQ(parse_size(text), std::nullopt) << text;
  }
}

TEST(ParseShare, TakesNumbersAndPercentages) {
  EXPECT_DOUBLE_EQ(parse_share("0.01").value(), 0.01);
  EXPECT_DOUBLE_EQ(parse_share("1%").value(), 0.01);
  EXPECT_DOUBLE_EQ(parse_share("0.5%").value(), 0.005);
  EXPECT_DOUBLE_EQ(parse_share("1e-3").value(), 0.001);
  EXPECT_DOUBLE_EQ(parse_share("150%").value(), 1.5);  // the caller checks the range
}

TEST(ParseShare, RefusesEverythingElse) {
  for (const char* text : {"", "%", "nan", "inf", "-0.1", "-1%", "1%%", "a", "0.1x", "1e999"}) {
    EXPECT_EQ(parse_share(text), std::nullopt) << text;
  }
}

TEST(Format, PicksTheLargestUnitThatLeavesAWholeNumber) {
  EXPECT_EQ(to_text(BitRate::bits_per_second(50'000'000)), "50Mbit");
  EXPECT_EQ(to_text(BitRate::bits_per_second(1'500'000'000)), "1500Mbit");
  EXPECT_EQ(to_text(BitRate::bits_per_second(0)), "0bit");
  EXPECT_EQ(to_text(Duration::milliseconds(550)), "550ms");
  EXPECT_EQ(to_text(Duration::seconds(90)), "90s");
  EXPECT_EQ(to_text(Duration::zero()), "0s");
  EXPECT_EQ(to_text(ByteCount(64ULL << 20)), "64MiB");
  EXPECT_EQ(to_text(ByteCount(1'000'000)), "1MB");
  EXPECT_EQ(to_text(ByteCount(1501)), "1501B");
}

TEST(Format, QuotesNothingThatCouldMoveATerminalsCursor) {
  EXPECT_EQ(in_quotes("a\x1b[2Jb\n"), "\"a?[2Jb?\"");
  EXPECT_EQ(printable(std::string(100, 'x')), std::string(60, 'x') + "...");
}

}  // namespace
}  // namespace satrelay::config::units_test
