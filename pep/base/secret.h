// Bytes that must not be found in memory later: keys, and all from which keys can be computed.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <span>

#include "pep/base/bytes.h"

namespace satrelay {

// Overwrites with zeros, even if the compiler sees that no code reads them.
inline void wipe(MutableBytes bytes) {
  if (bytes.empty()) return;
  std::memset(bytes.data(), 0, bytes.size());
  asm volatile("" : : "r"(bytes.data()) : "memory");
}

// Whether two runs of bytes of equal length are the same. The time does not depend on where they
// differ. Runs of different lengths are different.
inline bool equal_in_constant_time(ConstBytes a, ConstBytes b) {
  if (a.size() != b.size()) return false;
  std::byte difference{0};
  for (std::size_t i = 0; i < a.size(); ++i) difference |= a[i] ^ b[i];
  // Without this, the compiler could end the loop at the first difference.
  asm volatile("" : "+r"(difference));
  return difference == std::byte{0};
}

// A secret of fixed size. Its destructor wipes it, as it does each copy. Starts as zeros.
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
