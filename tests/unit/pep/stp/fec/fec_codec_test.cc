// The codec, checked against the field and the hash of docs/stp-wire.md section 11, which are
// computed without tables.
#include "pep/stp/fec/fec_codec.h"

#include <gtest/gtest.h>

#include <array>
#include <set>
#include <vector>

#include "pep/base/random.h"
#include "pep/stp/fec/source_symbol.h"
#include "tests/unit/pep/stp/fec/reference_code.h"

namespace satrelay::stp::test::fec_codec_test {
namespace {

Bytes random_bytes(std::size_t size, Random& random) {
  Bytes bytes(size);
  for (std::byte& b : bytes) b = static_cast<std::byte>(random.below(256));
  return bytes;
}

TEST(FecCodec, ProductsAndInversesAreThoseOfTheField) {
  for (unsigned a = 0; a < 256; ++a) {
    for (unsigned b = 0; b < 256; ++b) {
      const auto x = static_cast<std::uint8_t>(a), y = static_cast<std::uint8_t>(b);
      ASSERT_EQ(FecCodec::product(x, y), reference_product(x, y)) << a << " " << b;
    }
    if (a == 0) continue;
    const auto x = static_cast<std::uint8_t>(a);
    ASSERT_EQ(reference_product(x, FecCodec::inverse(x)), 1) << a;
  }
}

TEST(FecCodec, CoefficientsAreTheHashOfTheDocument) {
  // These values were computed independently of the codec and of the reference.
  EXPECT_EQ(FecCodec::coefficient(0, 0), 1);
  EXPECT_EQ(FecCodec::coefficient(0, 1), 68);
  EXPECT_EQ(FecCodec::coefficient(1, 0), 76);
  EXPECT_EQ(FecCodec::coefficient(1, 1), 252);
  EXPECT_EQ(FecCodec::coefficient(7, 3071), 50);
  EXPECT_EQ(FecCodec::coefficient(256, 40'000), 178);
  EXPECT_EQ(FecCodec::coefficient(65'535, 65'535), 157);
  Random random(1);
  for (int i = 0; i < 100'000; ++i) {
    const auto row = static_cast<std::uint16_t>(random.next());
    const auto index = static_cast<std::uint16_t>(random.next());
    ASSERT_EQ(FecCodec::coefficient(row, index), reference_coefficient(row, index));
  }
}

// All values occur about equally often, along a row and along a column.
TEST(FecCodec, CoefficientsAreSpreadEvenly) {
  std::array<int, 256> of_row{}, of_column{};
  constexpr int kEach = 255 * 100;
  for (int i = 0; i < kEach; ++i) {
    ++of_row.at(FecCodec::coefficient(77, static_cast<std::uint16_t>(i)));
    ++of_column.at(FecCodec::coefficient(static_cast<std::uint16_t>(i), 77));
  }
  EXPECT_EQ(of_row[0], 0);
  EXPECT_EQ(of_column[0], 0);
  for (std::size_t value = 1; value < 256; ++value) {
    EXPECT_NEAR(of_row.at(value), 100, 50) << value;
    EXPECT_NEAR(of_column.at(value), 100, 50) << value;
  }
}

TEST(FecCodec, AddsWhatTheReferenceAdds) {
  const FecCodec codec;
  Random random(2);
  for (const std::size_t size : {64U, 128U, 192U, 512U, 1472U, 1536U, 8960U}) {
    for (int i = 0; i < 20; ++i) {
      const auto factor = static_cast<std::uint8_t>(random.below(256));
      const Bytes symbol = random_bytes(FecCodec::padded(size), random);
      Bytes sum = random_bytes(FecCodec::padded(size), random);
      Bytes expected = sum;
      const Bytes before = sum;
      reference_add(factor, symbol, expected);
      codec.add(factor, symbol, sum.data());
      ASSERT_EQ(sum, expected) << size << " " << int{factor};
      codec.add(factor, symbol, sum.data());
      ASSERT_EQ(sum, before) << "taken out again";
    }
  }
}

// The codec adds to rows in batches. The result must not depend on the number of rows.
TEST(FecCodec, AddsToManyRowsWhatItAddsToEach) {
  const FecCodec codec;
  Random random(3);
  for (const std::size_t rows : {0U, 1U, 2U, 15U, 16U, 17U, 33U, 160U}) {
    const auto first_row = static_cast<std::uint16_t>(random.next() | 0xff80U);  // may wrap
    const auto index = static_cast<std::uint16_t>(random.next());
    const Bytes symbol = random_bytes(320, random);
    std::vector<Bytes> sums, expected;
    std::vector<std::byte*> pointers;
    for (std::size_t i = 0; i < rows; ++i) {
      sums.push_back(random_bytes(320, random));
      expected.push_back(sums.back());
      reference_add(reference_coefficient(static_cast<std::uint32_t>(first_row + i), index), symbol,
                    expected.back());
    }
    for (Bytes& sum : sums) pointers.push_back(sum.data());
    codec.add(index, symbol, first_row, pointers);
    EXPECT_EQ(sums, expected) << rows;
  }
}

TEST(SourceSymbol, HasNumberLengthAndFramesAndZerosBehind) {
  const Bytes frames{std::byte{9}, std::byte{8}, std::byte{7}};
  SourceSymbol symbol(symbol_stride(100));
  ASSERT_EQ(symbol.assign(1, Bytes(100, std::byte{0xff})), 106U);
  ASSERT_EQ(symbol.assign(0x1'2345'6789, frames), 9U);
  Bytes expected = reference_symbol(0x2345'6789, frames);
  ASSERT_EQ(expected.size(), 9U);
  expected.resize(64);
  EXPECT_TRUE(std::ranges::equal(symbol.padded(9), expected)) << "nothing of the one before";
}

}  // namespace
}  // namespace satrelay::stp::test::fec_codec_test
