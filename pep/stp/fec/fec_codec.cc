#include "pep/stp/fec/fec_codec.h"

#include <isa-l/erasure_code.h>

#include "pep/base/check.h"

namespace satrelay::stp {

namespace {

// ISA-L reads only where we give it const bytes, but its signatures predate const.
unsigned char* raw(const std::byte* bytes) {
  return const_cast<unsigned char*>(reinterpret_cast<const unsigned char*>(bytes));
}

}  // namespace

FecCodec::FecCodec() : tables_(std::make_unique<std::byte[]>(kMaxRepairs * kMaxSources * kTable)) {
  std::array<unsigned char, (kMaxSources + kMaxRepairs) * kMaxSources> matrix{};
  gf_gen_cauchy1_matrix(matrix.data(), kMaxSources + kMaxRepairs, kMaxSources);
  // Its first rows are those of the sources themselves.
  ec_init_tables(kMaxSources, kMaxRepairs, matrix.data() + kMaxSources * kMaxSources,
                 raw(tables_.get()));
}

// As gf_gen_cauchy1_matrix() defines it.
std::uint8_t FecCodec::coefficient(std::size_t row, std::size_t source) const {
  return gf_inv(static_cast<unsigned char>((kMaxSources + row) ^ source));
}

void FecCodec::add(std::size_t source, ConstBytes symbol,
                   std::span<std::byte* const> repairs) const {
  SATRELAY_DCHECK(source < kMaxSources && repairs.size() <= kMaxRepairs);
  SATRELAY_DCHECK(symbol.size() % kUnit == 0);
  if (repairs.empty()) return;
  std::array<unsigned char*, kMaxRepairs> out;
  for (std::size_t i = 0; i < repairs.size(); ++i) out[i] = raw(repairs[i]);
  ec_encode_data_update(static_cast<int>(symbol.size()), kMaxSources,
                        static_cast<int>(repairs.size()), static_cast<int>(source),
                        raw(tables_.get()), raw(symbol.data()), out.data());
}

void FecCodec::add(std::size_t source, ConstBytes symbol, std::span<const std::uint8_t> rows,
                   std::span<std::byte* const> repairs) const {
  SATRELAY_DCHECK(rows.size() == repairs.size() && symbol.size() % kUnit == 0);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    gf_vect_mad(static_cast<int>(symbol.size()), kMaxSources, static_cast<int>(source),
                raw(table(rows[i])), raw(symbol.data()), raw(repairs[i]));
  }
}

void FecCodec::solve(std::span<const std::uint8_t> rows, std::span<const std::uint8_t> missing,
                     std::span<std::byte* const> repairs, std::span<std::byte* const> sources,
                     std::size_t size) {
  const std::size_t n = rows.size();
  SATRELAY_CHECK(n > 0 && n <= kMaxRepairs && missing.size() == n && repairs.size() == n &&
                 sources.size() == n && size % kUnit == 0);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      scratch_->matrix[i * n + j] = coefficient(rows[i], missing[j]);
    }
  }
  const int singular =
      gf_invert_matrix(scratch_->matrix.data(), scratch_->inverse.data(), static_cast<int>(n));
  SATRELAY_CHECK(singular == 0);  // no square part of a Cauchy matrix is
  ec_init_tables(static_cast<int>(n), static_cast<int>(n), scratch_->inverse.data(),
                 scratch_->tables.data());
  std::array<unsigned char*, kMaxRepairs> in;
  std::array<unsigned char*, kMaxRepairs> out;
  for (std::size_t i = 0; i < n; ++i) {
    in[i] = raw(repairs[i]);
    out[i] = raw(sources[i]);
  }
  ec_encode_data(static_cast<int>(size), static_cast<int>(n), static_cast<int>(n),
                 scratch_->tables.data(), in.data(), out.data());
}

}  // namespace satrelay::stp
