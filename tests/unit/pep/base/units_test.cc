// Conversions between rates, sizes and times, in both directions.
#include "pep/base/units.h"

#include <gtest/gtest.h>

namespace satrelay::units_test {
namespace {

TEST(BitRate, ConvertsBothWaysWithoutOverflow) {
  const BitRate rate = BitRate::bits_per_second(10'000'000'000);
  EXPECT_EQ(rate.bytes_in(Duration::milliseconds(600)), ByteCount(750'000'000));
  EXPECT_EQ(rate.time_for(ByteCount(750'000'000)), Duration::milliseconds(600));
  EXPECT_EQ(BitRate::bits_per_second(3).time_for(ByteCount(1)),
            Duration::nanoseconds(2'666'666'667));  // rounded up
  EXPECT_EQ(rate.bytes_in(Duration::nanoseconds(-5)), ByteCount(0));
  // The sizes on either side of the limit above which 128 bits are needed.
  const BitRate gigabyte = BitRate::bits_per_second(8'000'000'000);
  EXPECT_EQ(gigabyte.time_for(ByteCount((1ULL << 31U) - 1)), Duration::nanoseconds(2147483647));
  EXPECT_EQ(gigabyte.time_for(ByteCount(1ULL << 31U)), Duration::nanoseconds(2147483648));
  EXPECT_TRUE(BitRate().time_for(ByteCount(1)).is_infinite());
  EXPECT_EQ(rate.scaled(95, 100).to_bits_per_second(), 9'500'000'000U);
  EXPECT_EQ(ByteCount(3) - ByteCount(5), ByteCount(0));
}

}  // namespace
}  // namespace satrelay::units_test
