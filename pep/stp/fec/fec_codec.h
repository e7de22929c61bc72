// Systematic Reed-Solomon erasure code over GF(2^8) for blocks of up to 64 symbols, with a Cauchy
// matrix (J. Bloemer et al., An XOR-based erasure-resilient coding scheme, 1995): every square part
// of it can be inverted, so that any k of the k + r symbols of a block give it back. The
// coefficient of a repair depends on its row and on the source's place only; therefore a block may
// end at any length. The one place that names ISA-L's erasure code.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "pep/base/bytes.h"
#include "pep/stp/wire/repair_frame.h"

namespace satrelay::stp {

class FecCodec {
 public:
  static constexpr std::size_t kMaxSources = kMaxRepairSources;
  static constexpr std::size_t kMaxRepairs = kMaxRepairRows;
  // Symbols are worked on in whole units of this, zero-padded.
  static constexpr std::size_t kUnit = 64;
  static constexpr std::size_t padded(std::size_t size) {
    return (size + kUnit - 1) / kUnit * kUnit;
  }

  FecCodec();

  // Adds source number `source` to the repairs of rows 0, 1, ... `symbol` is padded, and no longer
  // than the repairs, which start as zeros. The same call takes a source out again.
  void add(std::size_t source, ConstBytes symbol, std::span<std::byte* const> repairs) const;
  // As add(), for any rows.
  void add(std::size_t source, ConstBytes symbol, std::span<const std::uint8_t> rows,
           std::span<std::byte* const> repairs) const;
  // Repairs from which every source that is there has been taken out become the missing sources.
  // `rows`, `missing`, `repairs` and `sources` are equally long; `size` is padded.
  void solve(std::span<const std::uint8_t> rows, std::span<const std::uint8_t> missing,
             std::span<std::byte* const> repairs, std::span<std::byte* const> sources,
             std::size_t size);

 private:
  static constexpr std::size_t kTable = 32;  // bytes of ISA-L's table for one coefficient
  std::uint8_t coefficient(std::size_t row, std::size_t source) const;
  const std::byte* table(std::size_t row) const {
    return tables_.get() + row * kMaxSources * kTable;
  }
  std::unique_ptr<std::byte[]> tables_;  // of all rows and sources
  struct Scratch {
    std::array<std::uint8_t, kMaxRepairs * kMaxRepairs> matrix, inverse;
    std::array<std::uint8_t, kMaxRepairs * kMaxRepairs * kTable> tables;
  };
  std::unique_ptr<Scratch> scratch_ = std::make_unique<Scratch>();
};

}  // namespace satrelay::stp
