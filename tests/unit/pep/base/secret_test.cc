// A secret is erased when it is destroyed, and compared in constant time.
#include "pep/base/secret.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <new>
#include <span>
#include <vector>

namespace satrelay::secret_test {
namespace {

using Octets = std::vector<std::byte>;

TEST(Secret, IsWipedWhereItEnds) {
  using Key = Secret<64>;
  alignas(Key) std::array<std::byte, sizeof(Key)> memory{};
  Octets bytes(64, std::byte{5});
  auto* key = new (memory.data()) Key(std::span<const std::byte, 64>(bytes.data(), 64));
  asm volatile("" : : "r"(memory.data()) : "memory");
  EXPECT_EQ(std::count(memory.begin(), memory.end(), std::byte{5}), 64);
  key->~Key();
  asm volatile("" : : "r"(memory.data()) : "memory");
  EXPECT_EQ(std::count(memory.begin(), memory.end(), std::byte{5}), 0);
}

TEST(Secret, ComparesWholly) {
  const Octets a(20, std::byte{1});
  EXPECT_TRUE(equal_in_constant_time(a, Octets(a)));
  EXPECT_TRUE(equal_in_constant_time({}, {}));
  EXPECT_FALSE(equal_in_constant_time(a, ConstBytes(a).first(19)));
  for (std::size_t i = 0; i < a.size(); ++i) {
    Octets b(a);
    b[i] ^= std::byte{0x80};
    EXPECT_FALSE(equal_in_constant_time(a, b)) << i;
  }
}

}  // namespace
}  // namespace satrelay::secret_test
