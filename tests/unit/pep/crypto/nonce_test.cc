#include "pep/crypto/nonce.h"

#include <gtest/gtest.h>

#include <limits>
#include <set>

#include "tests/unit/pep/wire/octets.h"

namespace satrelay::crypto::nonce_test {
namespace {

TEST(Nonce, HasItsLayout) {
  const Nonce nonce =
      packet_nonce({.lane = 0xab, .direction = Direction::kFromOdd, .number = 0x0102030405060708});
  EXPECT_EQ(std::vector(nonce.begin(), nonce.end()), wire::octets("000001ab 0102030405060708"));
}

// Each lane, direction and bit of the number changes the nonce.
TEST(Nonce, DiffersWhereverThePacketsDo) {
  std::set<Nonce> nonces;
  std::size_t made = 0;
  std::vector<std::uint64_t> numbers{0, 3, std::numeric_limits<std::uint64_t>::max()};
  for (unsigned bit = 0; bit < 64; ++bit) numbers.push_back(std::uint64_t{1} << bit);
  for (unsigned lane = 0; lane < 256; ++lane) {
    for (const Direction direction : {Direction::kFromEven, Direction::kFromOdd}) {
      for (const std::uint64_t number : numbers) {
        nonces.insert(packet_nonce(
            {.lane = static_cast<std::uint8_t>(lane), .direction = direction, .number = number}));
        ++made;
      }
    }
  }
  EXPECT_EQ(nonces.size(), made);
}

}  // namespace
}  // namespace satrelay::crypto::nonce_test
