// Bytes that must not stay in memory after use: keys, and bytes from which keys can be computed.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <span>

#include "pep/base/bytes.h"

namespace satrelay {

// Overwrites `bytes` with zeros. The compiler cannot remove the writes, although no code reads
// them.
inline void wipe(MutableBytes bytes) {
  if (bytes.empty()) return;
  std::memset(bytes.data(), 0, bytes.size());
  asm volatile("" : : "r"(bytes.data()) : "memory");
}

// Whether two runs of bytes are equal. Runs of different lengths are not equal. The time does not
// depend on the position of a difference.
inline bool equal_in_constant_time(ConstBytes a, ConstBytes b) {
  if (a.size() != b.size()) return false;
  std::byte difference{0};
  for (std::size_t i = 0; i < a.size(); ++i) difference |= a[i] ^ b[i];
  // Without this asm statement, the compiler could end the loop at the first difference.
  asm volatile("" : "+r"(difference));
  return difference == std::byte{0};
}

// A secret of fixed size, initially zeros. The destructor of each copy wipes the bytes of that
// copy.
template <std::size_t Size>
class Secret {
 public:
  Secret() = default;
  explicit Secret(std::span<const std::byte, Size> bytes) {
    std::copy(bytes.begin(), bytes.end(), bytes_.begin());
  }
  Secret(const Secret&) = default;
  Secret& operator=(const Secret&) = default;
  ~Secret() { wipe(bytes_); }

  std::size_t size() const { return Size; }
  std::span<const std::byte, Size> bytes() const { return bytes_; }
  std::span<std::byte, Size> bytes() { return bytes_; }

 private:
  std::array<std::byte, Size> bytes_{};
};

}  // namespace satrelay
