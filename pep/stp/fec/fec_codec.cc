#include "pep/stp/fec/fec_codec.h"

#include <isa-l/erasure_code.h>

#include <algorithm>
#include <cstring>

#include "pep/base/check.h"

namespace satrelay::stp {
namespace {

// ISA-L only reads the bytes that are const here, but its signatures predate const.
unsigned char* raw(const std::byte* bytes) {
  return const_cast<unsigned char*>(reinterpret_cast<const unsigned char*>(bytes));
}
unsigned char* raw(const std::uint8_t* bytes) { return const_cast<unsigned char*>(bytes); }

}  // namespace

FecCodec::Tables::Tables() {
  for (unsigned factor = 0; factor < 256; ++factor) {
    gf_vect_mul_init(static_cast<unsigned char>(factor), bytes.data() + factor * kTable);
  }
}

const FecCodec::Tables& FecCodec::tables() {
  static const Tables all;
  return all;
}

FecCodec::FecCodec() : tables_(tables().bytes.data()) {}

// A 32-bit hash in which each input bit changes about half of the output bits.
std::uint8_t FecCodec::coefficient(std::uint16_t row, std::uint16_t index) {
  std::uint32_t x = (std::uint32_t{row} << 16) | index;
  x ^= x >> 16;
  x *= 0x7feb'352dU;
  x ^= x >> 15;
  x *= 0x846c'a68bU;
  x ^= x >> 16;
  return static_cast<std::uint8_t>(1 + x % 255);
}

std::uint8_t FecCodec::inverse(std::uint8_t value) { return gf_inv(value); }
std::uint8_t FecCodec::product(std::uint8_t a, std::uint8_t b) { return gf_mul(a, b); }

void FecCodec::add(std::uint8_t factor, ConstBytes symbol, std::byte* sum) const {
  SATRELAY_DCHECK(symbol.size() % kUnit == 0);
  gf_vect_mad(static_cast<int>(symbol.size()), 1, 0, raw(tables_ + factor * kTable),
              raw(symbol.data()), raw(sum));
}

void FecCodec::add(std::uint16_t index, ConstBytes symbol, std::uint16_t first_row,
                   std::span<std::byte* const> sums) const {
  SATRELAY_DCHECK(symbol.size() % kUnit == 0);
  constexpr std::size_t kAtOnce = 16;
  for (std::size_t done = 0; done < sums.size(); done += kAtOnce) {
    const std::size_t count = std::min(kAtOnce, sums.size() - done);
    std::array<std::uint8_t, kAtOnce * kTable> tables;
    std::array<unsigned char*, kAtOnce> out;
    for (std::size_t i = 0; i < count; ++i) {
      const auto row = static_cast<std::uint16_t>(first_row + done + i);
      std::memcpy(tables.data() + i * kTable, tables_ + coefficient(row, index) * kTable, kTable);
      out[i] = raw(sums[done + i]);
    }
    ec_encode_data_update(static_cast<int>(symbol.size()), 1, static_cast<int>(count), 0,
                          tables.data(), raw(symbol.data()), out.data());
  }
}

}  // namespace satrelay::stp
