// The content of flows is a function of the position alone. No byte can move unnoticed.
#include "relay/sim/hosts/pattern.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace satrelay::sim::pattern_test {
namespace {

constexpr Content kContents[] = {Content::kRandom, Content::kText, Content::kMixed,
                                 Content::kAnswers};
constexpr std::size_t kSize = 300'000;

std::vector<std::byte> whole(const Pattern& pattern) {
  std::vector<std::byte> bytes(kSize);
  pattern.fill(0, bytes);
  return bytes;
}

TEST(Pattern, IsTheSameInPiecesOfAnySize) {
  for (const Content content : kContents) {
    const Pattern pattern(77, content);
    const std::vector<std::byte> expected = whole(pattern);
    std::vector<std::byte> pieces(kSize);
    std::size_t size = 1;
    for (std::size_t at = 0; at < kSize;) {
      const std::size_t count = std::min(size, kSize - at);
      pattern.fill(at, MutableBytes(pieces).subspan(at, count));
      at += count;
      size = size * 7 % 9973;
    }
    EXPECT_TRUE(pieces == expected);
    EXPECT_FALSE(pattern.first_difference(0, pieces));
  }
}

TEST(Pattern, FindsTheFirstWrongByte) {
  for (const Content content : kContents) {
    const Pattern pattern(78, content);
    for (const std::size_t wrong : {0UL, 7UL, 8191UL, 65'536UL, 100'001UL, kSize - 1}) {
      std::vector<std::byte> bytes = whole(pattern);
      bytes[wrong] ^= std::byte{0x10};
      EXPECT_EQ(pattern.first_difference(0, bytes), wrong);
    }
  }
}

TEST(Pattern, NoticesBytesOfAnotherPlaceOrFlow) {
  const Pattern pattern(79, Content::kRandom);
  std::vector<std::byte> bytes(64);
  for (const std::uint64_t moved : {1UL, 8UL, 1460UL, 65'536UL, 1UL << 32U}) {
    pattern.fill(1000 + moved, bytes);
    EXPECT_TRUE(pattern.first_difference(1000, bytes)) << moved;
  }
  Pattern(80, Content::kRandom).fill(1000, bytes);
  EXPECT_TRUE(pattern.first_difference(1000, bytes));
}

}  // namespace
}  // namespace satrelay::sim::pattern_test
