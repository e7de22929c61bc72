// The code of docs/stp-wire.md section 11, computed without tables, a bit at a time.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "pep/base/bytes.h"

namespace satrelay::stp::test {

using Bytes = std::vector<std::byte>;

// The product in GF(2^8) with x^8 + x^4 + x^3 + x^2 + 1.
inline std::uint8_t reference_product(std::uint8_t a, std::uint8_t b) {
  unsigned product = 0;
  for (unsigned bit = 8; bit-- > 0;) {
    product <<= 1U;
    if ((product & 0x100U) != 0) product ^= 0x11dU;
    if ((b >> bit & 1U) != 0) product ^= a;
  }
  return static_cast<std::uint8_t>(product);
}

inline std::uint8_t reference_coefficient(std::uint32_t row, std::uint32_t index) {
  std::uint64_t x = (row & 0xffffU) * 65'536ULL + (index & 0xffffU);
  x = (x ^ x / 65'536) * 2'146'121'005ULL % (1ULL << 32U);
  x = (x ^ x / 32'768) * 2'221'713'035ULL % (1ULL << 32U);
  x = x ^ x / 65'536;
  return static_cast<std::uint8_t>(x % 255 + 1);
}

inline Bytes reference_symbol(std::uint64_t number, ConstBytes frames) {
  Bytes symbol;
  for (const unsigned shift : {24U, 16U, 8U, 0U}) {
    symbol.push_back(static_cast<std::byte>(number >> shift));
  }
  symbol.push_back(static_cast<std::byte>(frames.size() >> 8U));
  symbol.push_back(static_cast<std::byte>(frames.size()));
  symbol.insert(symbol.end(), frames.begin(), frames.end());
  return symbol;
}

// Adds `factor` times `symbol` to `sum`, which becomes at least as long as `symbol`.
inline void reference_add(std::uint8_t factor, ConstBytes symbol, Bytes& sum) {
  sum.resize(std::max(sum.size(), symbol.size()));
  for (std::size_t i = 0; i < symbol.size(); ++i) {
    const auto byte = std::to_integer<std::uint8_t>(symbol[i]);
    sum[i] ^= static_cast<std::byte>(reference_product(factor, byte));
  }
}

}  // namespace satrelay::stp::test
