// Sequence numbers of fewer bits, unwrapped to 64.
#include "pep/base/sequence.h"

#include <gtest/gtest.h>

#include "pep/base/random.h"

namespace satrelay::sequence_test {
namespace {

TEST(UnwrapSequence, TakesTheNearestValue) {
  constexpr std::uint64_t kTwo32 = std::uint64_t{1} << 32;
  EXPECT_EQ(unwrap_sequence<32>(5, 0), 5U);
  EXPECT_EQ(unwrap_sequence<32>(0, kTwo32 - 1), kTwo32);
  EXPECT_EQ(unwrap_sequence<32>(0xffff'ffffU, kTwo32), kTwo32 - 1);
  EXPECT_EQ(unwrap_sequence<32>(0xffff'ffffU, 7 * kTwo32 + 3), 7 * kTwo32 - 1);
  EXPECT_EQ(unwrap_sequence<32>(0x7fff'ffffU, 7 * kTwo32), 7 * kTwo32 + 0x7fff'ffffU);
  EXPECT_EQ(unwrap_sequence<32>(0x8000'0000U, 7 * kTwo32), 7 * kTwo32 - 0x8000'0000U);
  // The result is never below zero.
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

}  // namespace
}  // namespace satrelay::sequence_test
