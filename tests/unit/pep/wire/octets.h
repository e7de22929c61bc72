// Octets from hexadecimal text, for test vectors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "pep/base/bytes.h"
#include "pep/base/random.h"

namespace satrelay::wire {

// Two lower-case hex digits for each octet. Blanks are ignored.
inline std::vector<std::byte> octets(std::string_view text) {
  std::vector<std::byte> bytes;
  bool high = true;
  for (const char c : text) {
    if (c == ' ' || c == '\n') continue;
    const auto digit = static_cast<unsigned>(c <= '9' ? c - '0' : c - 'a' + 10);
    if (high) {
      bytes.push_back(static_cast<std::byte>(digit << 4));
    } else {
      bytes.back() |= static_cast<std::byte>(digit);
    }
    high = !high;
  }
  return bytes;
}

inline std::vector<std::byte> random_octets(Random& random, std::size_t size) {
  std::vector<std::byte> bytes(size);
  for (auto& b : bytes) b = static_cast<std::byte>(random.next());
  return bytes;
}

// A copy on the heap of exactly this size, so that a sanitizer sees any read past its end.
inline std::vector<std::byte> exact_copy(ConstBytes bytes) { return {bytes.begin(), bytes.end()}; }

}  // namespace satrelay::wire
