// CRC32C, checked against the standard vectors.
#include "pep/stp/wire/crc32c.h"

#include <gtest/gtest.h>

#include <vector>

#include "tests/unit/pep/stp/wire/transcript.h"

namespace satrelay::stp::test::crc32c_test {
namespace {

TEST(Crc32cTest, MatchesTheStandardVectors) {
  // RFC 3720 appendix B.4.
  EXPECT_EQ(crc32c_finish(crc32c_update(kCrc32cStart, bytes_of("123456789"))), 0xE3069283U);
  const std::vector<std::byte> zeros(32);
  EXPECT_EQ(crc32c_finish(crc32c_update(kCrc32cStart, zeros)), 0x8A9136AAU);
}

TEST(Crc32cTest, PiecesGiveTheSameStateAsTheWhole) {
  const std::vector<std::byte> text = bytes_of("the whole, or in pieces");
  const ConstBytes all(text);
  EXPECT_EQ(crc32c_update(crc32c_update(kCrc32cStart, all.first(7)), all.subspan(7)),
            crc32c_update(kCrc32cStart, all));
}

}  // namespace
}  // namespace satrelay::stp::test::crc32c_test
