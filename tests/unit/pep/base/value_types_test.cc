// Sequence unwrapping, units, bounded readers and writers, seeded random numbers.
#include <gtest/gtest.h>

#include <array>

#include "pep/base/bytes.h"
#include "pep/base/random.h"
#include "pep/base/sequence.h"
#include "pep/base/units.h"

namespace satrelay {
namespace {

TEST(UnwrapSequence, TakesTheNearestValue) {
  constexpr std::uint64_t kTwo32 = std::uint64_t{1} << 32;
  EXPECT_EQ(unwrap_sequence<32>(5, 0), 5U);
  EXPECT_EQ(unwrap_sequence<32>(0, kTwo32 - 1), kTwo32);
  EXPECT_EQ(unwrap_sequence<32>(0xffff'ffffU, kTwo32), kTwo32 - 1);
  EXPECT_EQ(unwrap_sequence<32>(0xffff'ffffU, 7 * kTwo32 + 3), 7 * kTwo32 - 1);
  EXPECT_EQ(unwrap_sequence<32>(0x7fff'ffffU, 7 * kTwo32), 7 * kTwo32 + 0x7fff'ffffU);
  EXPECT_EQ(unwrap_sequence<32>(0x8000'0000U, 7 * kTwo32), 7 * kTwo32 - 0x8000'0000U);
  // Nothing lies below zero.
  EXPECT_EQ(unwrap_sequence<32>(0xffff'fff0U, 3), 0xffff'fff0U);
  EXPECT_EQ(unwrap_sequence<16>(0xfffe, 0x1'0001), 0xfffeU);
}

TEST(UnwrapSequence, UndoesTruncationWithinHalfTheSpan) {
  Random random(3);
  for (int i = 0; i < 100'000; ++i) {
    const std::uint64_t reference = (std::uint64_t{1} << 40) + (random.next() >> 8);
    const std::uint64_t near = reference - 0x8000'0000U + random.below(std::uint64_t{1} << 32);
    ASSERT_EQ(unwrap_sequence<32>(near & 0xffff'ffffU, reference), near);
  }
}

TEST(BitRate, ConvertsBothWaysWithoutOverflow) {
  const BitRate rate = BitRate::bits_per_second(10'000'000'000);
  EXPECT_EQ(rate.bytes_in(Duration::milliseconds(600)), ByteCount(750'000'000));
  EXPECT_EQ(rate.time_for(ByteCount(750'000'000)), Duration::milliseconds(600));
  EXPECT_EQ(BitRate::bits_per_second(3).time_for(ByteCount(1)),
            Duration::nanoseconds(2'666'666'667));  // rounded up
  EXPECT_EQ(rate.bytes_in(Duration::nanoseconds(-5)), ByteCount(0));
  // Either side of the size from which on 128 bits are needed.
  const BitRate gigabyte = BitRate::bits_per_second(8'000'000'000);
  EXPECT_EQ(gigabyte.time_for(ByteCount((1ULL << 31U) - 1)), Duration::nanoseconds(2147483647));
  EXPECT_EQ(gigabyte.time_for(ByteCount(1ULL << 31U)), Duration::nanoseconds(2147483648));
  EXPECT_TRUE(BitRate().time_for(ByteCount(1)).is_infinite());
  EXPECT_EQ(rate.scaled(95, 100).to_bits_per_second(), 9'500'000'000U);
  EXPECT_EQ(ByteCount(3) - ByteCount(5), ByteCount(0));
}

TEST(Time, NeverAndInfiniteAbsorb) {
  EXPECT_TRUE((Instant::never() + Duration::seconds(1)).is_never());
  EXPECT_TRUE((Instant() + Duration::infinite()).is_never());
  EXPECT_TRUE((Instant::never() - Instant()).is_infinite());
  EXPECT_TRUE((Duration::infinite() * 2).is_infinite());
  EXPECT_LT(Instant::from_nanoseconds(5), Instant::never());
  EXPECT_EQ(earlier(Instant(), Instant::never()), Instant());
}

TEST(ByteReader, FailsForGoodPastTheEnd) {
  std::array<std::byte, 15> bytes{};
  ByteWriter writer(bytes);
  writer.u8(0x01);
  writer.u16(0x0203);
  writer.u32(0x04050607);
  writer.u64(0x08090a0b0c0d0e0f);
  EXPECT_TRUE(writer.ok());
  writer.u8(0xff);
  EXPECT_FALSE(writer.ok());
  EXPECT_EQ(writer.written(), 15U);
  for (std::size_t i = 0; i < bytes.size(); ++i) EXPECT_EQ(load_u8(&bytes[i]), i + 1);

  ByteReader reader(bytes);
  EXPECT_EQ(reader.u8(), 0x01U);
  EXPECT_EQ(reader.u16(), 0x0203U);
  EXPECT_EQ(reader.u32(), 0x04050607U);
  EXPECT_EQ(reader.bytes(4).size(), 4U);
  EXPECT_EQ(reader.remaining(), 4U);
  EXPECT_EQ(reader.u64(), 0U);
  EXPECT_FALSE(reader.ok());
  EXPECT_EQ(reader.u8(), 0U);  // what was left is gone
}

TEST(ByteWriter, AFailedWriteChangesNothing) {
  std::array<std::byte, 3> bytes{};
  ByteWriter writer(bytes);
  writer.u32(0xffff'ffffU);
  EXPECT_FALSE(writer.ok());
  writer.u8(0xff);  // would fit, but the message is broken already
  EXPECT_TRUE(writer.reserve(1).empty());
  EXPECT_EQ(writer.written(), 0U);
  for (const std::byte b : bytes) EXPECT_EQ(b, std::byte{0});
}

TEST(Random, RepeatsAndStaysInBounds) {
  // First values of SplitMix64 from seed 0, as published with the algorithm.
  Random zero(0);
  EXPECT_EQ(zero.next(), 0xE220A8397B1DCDAFU);
  EXPECT_EQ(zero.next(), 0x6E789E6AA1B965F4U);
  Random random(7);
  std::array<int, 10> seen{};
  for (int i = 0; i < 10'000; ++i) {
    ++seen.at(random.below(10));
    const double u = random.unit();
    ASSERT_TRUE(u >= 0 && u < 1);
  }
  for (const int count : seen) EXPECT_NEAR(count, 1000, 150);
  EXPECT_FALSE(random.chance(0));
  EXPECT_TRUE(random.chance(1));
}

}  // namespace
}  // namespace satrelay
