#include "relay/satperf/pattern.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace satrelay::satperf::pattern_test {
namespace {

std::vector<std::byte> bytes_of(const Pattern& pattern, std::uint32_t stream, std::uint64_t offset,
                                std::size_t count) {
  std::vector<std::byte> bytes(count);
  pattern.fill(stream, offset, bytes);
  return bytes;
}

TEST(Pattern, AnyPieceIsThatOfTheWhole) {
  const Pattern pattern;
  for (const std::uint64_t block : {0ULL, 1ULL, 7'000'000ULL}) {
    const auto whole = bytes_of(pattern, 3, block * kBlock, kBlock);
    for (const std::size_t begin : {0U, 1U, 7U, 8U, 4095U, 65'530U}) {
      for (const std::size_t count : {1U, 5U, 6U}) {
        const auto piece = bytes_of(pattern, 3, block * kBlock + begin, count);
        EXPECT_TRUE(std::ranges::equal(piece, std::span(whole).subspan(begin, count)))
            << begin << " " << count;
      }
    }
    EXPECT_TRUE(pattern.matches(3, block * kBlock + 13, std::span(whole).subspan(13)));
  }
}

TEST(Pattern, FindsOneWrongBitAnywhere) {
  const Pattern pattern;
  auto whole = bytes_of(pattern, 0, 0, kBlock);
  for (const std::size_t at : {0U, 3U, 4096U, 65'535U}) {
    whole[at] ^= std::byte{0x10};
    EXPECT_FALSE(pattern.matches(0, 0, whole)) << at;
    whole[at] ^= std::byte{0x10};
  }
  EXPECT_TRUE(pattern.matches(0, 0, whole));
}

TEST(Pattern, TellsPlacesAndStreamsApart) {
  const Pattern pattern;
  const auto here = bytes_of(pattern, 0, 0, 4096);
  EXPECT_FALSE(pattern.matches(1, 0, here)) << "another stream";
  EXPECT_FALSE(pattern.matches(0, kBlock, here)) << "the next block";
  EXPECT_FALSE(pattern.matches(0, 8, here)) << "moved by a word";
  EXPECT_FALSE(pattern.matches(0, 1, here)) << "moved by a byte";
}

}  // namespace
}  // namespace satrelay::satperf::pattern_test
