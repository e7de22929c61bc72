#include "pep/base/int128.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>

#include "pep/base/units.h"

namespace satrelay::int128_test {
namespace {

constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();

TEST(Quotient, OfWhatFits64Bits) {
  EXPECT_EQ(quotient(0, 7), 0U);
  EXPECT_EQ(quotient(kMost, 1), kMost);
  EXPECT_EQ(quotient(kMost, 10), kMost / 10);
}

TEST(Quotient, OfWhatDoesNot) {
  EXPECT_EQ(quotient(static_cast<Uint128>(kMost) + 1, 2), std::uint64_t{1} << 63U);
  EXPECT_EQ(quotient(static_cast<Uint128>(kMost) * 1000 + 999, 1000), kMost);
  // Here the low half alone would give another result.
  EXPECT_EQ(quotient((static_cast<Uint128>(3) << 64U) + 8, 4), 0xc000'0000'0000'0002U);
}

// 4 GiB at 10 Gbit/s, in nanoseconds: an intermediate result has 65 bits.
TEST(Quotient, CarriesTheUnitsPast64Bits) {
  const BitRate rate = BitRate::bits_per_second(10'000'000'000);
  const Duration time = rate.time_for(ByteCount(4ULL << 30));
  EXPECT_EQ(time.to_nanoseconds(), 3'435'973'837);  // 3.4359738368 s, rounded up
  EXPECT_EQ(rate.bytes_in(Duration::seconds(100)), ByteCount(125'000'000'000));
}

}  // namespace
}  // namespace satrelay::int128_test
