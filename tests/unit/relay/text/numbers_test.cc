#include "relay/text/numbers.h"

#include <gtest/gtest.h>

namespace satrelay::text::numbers_test {
namespace {

TEST(Numbers, BytesOfMemoryAndOfTransfers) {
  EXPECT_EQ(binary_bytes(0), "0 B");
  EXPECT_EQ(binary_bytes(1023), "1023 B");
  EXPECT_EQ(binary_bytes(1024), "1.00 KiB");
  EXPECT_EQ(binary_bytes(1536), "1.50 KiB");
  EXPECT_EQ(binary_bytes(64ULL << 20), "64.0 MiB");
  EXPECT_EQ(binary_bytes((1ULL << 30) - 1), "1.00 GiB");
  EXPECT_EQ(binary_bytes(~0ULL), "16384 PiB");
  EXPECT_EQ(decimal_bytes(999), "999 B");
  EXPECT_EQ(decimal_bytes(180'000'000'000), "180 GB");
}

TEST(Numbers, RatesHaveThreeDigitsAndThePrefixThatFits) {
  EXPECT_EQ(bit_rate(0), "0 bit/s");
  EXPECT_EQ(bit_rate(999), "999 bit/s");
  EXPECT_EQ(bit_rate(999.6), "1.00 kbit/s");
  EXPECT_EQ(bit_rate(999'999), "1.00 Mbit/s");
  EXPECT_EQ(bit_rate(9'996'000), "10.0 Mbit/s");
  EXPECT_EQ(bit_rate(46'912'345), "46.9 Mbit/s");
  EXPECT_EQ(bit_rate(804e6), "804 Mbit/s");
  EXPECT_EQ(bit_rate(9.83e9), "9.83 Gbit/s");
  EXPECT_EQ(bit_rate(2e12), "2.00 Tbit/s");
}

TEST(Numbers, DurationsOfAnyLength) {
  EXPECT_EQ(duration(0), "0 us");
  EXPECT_EQ(duration(551'400), "551 ms");
  EXPECT_EQ(duration(1'500'000), "1.50 s");
  EXPECT_EQ(duration(59'999'999), "60.0 s");
  EXPECT_EQ(duration(61'000'000), "1 min 01 s");
  EXPECT_EQ(duration(7'380'000'000), "2 h 03 min");
  EXPECT_EQ(duration(180'000'000'000), "2 d 02 h");
}

TEST(Numbers, CountsInGroups) {
  EXPECT_EQ(count(0), "0");
  EXPECT_EQ(count(999), "999");
  EXPECT_EQ(count(1'000), "1 000");
  EXPECT_EQ(count(1'234'567), "1 234 567");
  EXPECT_EQ(count(~0ULL), "18 446 744 073 709 551 615");
  EXPECT_EQ(plain(1'234'567), "1234567");
}

TEST(Numbers, Shares) {
  EXPECT_EQ(share(10'000), "1.00%");
  EXPECT_EQ(share(123), "0.01%");
  EXPECT_EQ(percent(0.5, 1), "50.0%");
  EXPECT_EQ(percent(1, 0), "100%");
}

TEST(Numbers, FiguresOfReports) {
  EXPECT_EQ(fixed(12.345, 1), "12.3");
  EXPECT_EQ(fixed(2, 3), "2.000");
  EXPECT_EQ(significant(0.0125), "0.0125");
  EXPECT_EQ(significant(1'234'567), "1.23457e+06");
  EXPECT_EQ(significant(50), "50");
}

}  // namespace
}  // namespace satrelay::text::numbers_test
