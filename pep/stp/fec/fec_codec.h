// A random linear code over GF(2^8), as in RFC 8681. A repair is the sum of the symbols of its
// packets, each multiplied by a coefficient. The coefficient is a hash of the repair's row and the
// packet's index. Unlike in Reed-Solomon codes, such a sum may begin and end anywhere, and cover
// any number of packets. k repairs recover k packets except in one of 255 cases, and k + 1 repairs
// nearly always do. Only this file uses the erasure code of ISA-L.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "pep/base/bytes.h"

namespace satrelay::stp {

class FecCodec {
 public:
  // Symbols are padded with zeros to a multiple of this size, in bytes.
  static constexpr std::size_t kUnit = 64;
  static constexpr std::size_t padded(std::size_t size) {
    return (size + kUnit - 1) / kUnit * kUnit;
  }

  FecCodec();

  // Returns 1 to 255.
  static std::uint8_t coefficient(std::uint16_t row, std::uint16_t index);
  static std::uint8_t inverse(std::uint8_t value);
  static std::uint8_t product(std::uint8_t a, std::uint8_t b);

  // Adds `factor` times `symbol` to `sum`. The symbol must be padded. A second call with the same
  // arguments subtracts the symbol.
  void add(std::uint8_t factor, ConstBytes symbol, std::byte* sum) const;
  // Adds the symbol to several sums at once. The sums have the rows first_row, first_row + 1, and
  // so on.
  void add(std::uint16_t index, ConstBytes symbol, std::uint16_t first_row,
           std::span<std::byte* const> sums) const;

 private:
  static constexpr std::size_t kTable = 32;  // size of ISA-L's table for one coefficient, in bytes
  struct Tables {
    Tables();
    alignas(64) std::array<std::uint8_t, 256 * kTable> bytes;
  };
  static const Tables& tables();  // shared by all objects
  const std::uint8_t* tables_;
};

}  // namespace satrelay::stp
