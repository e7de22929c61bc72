// A random linear code over GF(2^8), as in RFC 8681. A repair is the sum of its packets' symbols,
// each times a coefficient. A hash of the repair's row and the packet's index gives the
// coefficient. Unlike with Reed-Solomon codes, such a sum may begin and end anywhere, and cover any
// number of packets. k repairs give back k packets but for one time in 255, k + 1 repairs nearly
// always. Only this file uses ISA-L's erasure code.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "pep/base/bytes.h"

namespace satrelay::stp {

class FecCodec {
 public:
  // Symbols are padded with zeros to whole units of this. Unit: bytes.
  static constexpr std::size_t kUnit = 64;
  static constexpr std::size_t padded(std::size_t size) {
    return (size + kUnit - 1) / kUnit * kUnit;
  }

  FecCodec();

  // Returns 1 to 255.
  static std::uint8_t coefficient(std::uint16_t row, std::uint16_t index);
  static std::uint8_t inverse(std::uint8_t value);
  static std::uint8_t product(std::uint8_t a, std::uint8_t b);

  // Adds `factor` times `symbol`, which is padded, to `sum`. The same call again subtracts it.
  void add(std::uint8_t factor, ConstBytes symbol, std::byte* sum) const;
  // The same for several sums at once, those of rows first_row, first_row + 1, ...
  void add(std::uint16_t index, ConstBytes symbol, std::uint16_t first_row,
           std::span<std::byte* const> sums) const;

 private:
  static constexpr std::size_t kTable = 32;  // size of ISA-L's table for one coefficient, bytes
  struct Tables {
    Tables();
    alignas(64) std::array<std::uint8_t, 256 * kTable> bytes;
  };
  static const Tables& tables();  // all objects share them
  const std::uint8_t* tables_;
};

}  // namespace satrelay::stp
