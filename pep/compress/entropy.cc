#include <algorithm>
#include <array>
#include <cmath>

#include "pep/compress/block_codec.h"

namespace satrelay::compress {
namespace {

constexpr std::size_t kSample = 4096;  // octets looked at, at most
constexpr std::size_t kPieces = 16;    // spread over the block, so that a header does not decide
// Random octets measure 7.95 bits in a sample of this size; text 4 to 5, binaries 6 to 7.
constexpr double kCompressibleBits = 7.4;

}  // namespace

bool looks_compressible(ConstBytes plain) {
  if (plain.empty()) return false;
  std::array<std::uint32_t, 256> histogram{};
  std::size_t count = 0;
  const std::size_t piece = std::max<std::size_t>(kSample / kPieces, 1);
  const std::size_t step = plain.size() <= kSample ? piece : plain.size() / kPieces;
  for (std::size_t at = 0; at < plain.size() && count < kSample; at += step) {
    for (const std::byte b : plain.subspan(at, std::min(piece, plain.size() - at))) {
      ++histogram[static_cast<std::size_t>(b)];
      ++count;
    }
  }
  // H = log2(n) - sum(c log2 c) / n. A small sample of random octets cannot show 8 bits: the bound
  // follows what it can show.
  double sum = 0;
  for (const std::uint32_t c : histogram) {
    if (c > 1) sum += static_cast<double>(c) * std::log2(static_cast<double>(c));
  }
  const auto n = static_cast<double>(count);
  const double bits = std::log2(n) - sum / n;
  return bits < std::min(kCompressibleBits, std::log2(n) - 0.6);
}

}  // namespace satrelay::compress
