// Weights for the work of the codec on a block (pep/base/work_budget.h): by octets, by level, and
// by how often zstd begins anew. They determine how large a block may be at each level.
//
// The weights are means for the slowest of the three texts of docs/measurements.md ("Compression"),
// on one core, warm.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "pep/base/work_budget.h"

namespace satrelay::compress {

inline constexpr std::size_t kMaxPlainBlock = 64 * 1024;
// Above this level, blocks are not made smaller because of the time that they take
// (docs/configuration.md, compress_level).
inline constexpr int kHighestBoundedLevel = 9;
// Most work to compress a block, up to that level.
inline constexpr Work kMostEncodingWork = 500'000;

// Picoseconds to compress an octet.
constexpr std::uint64_t encoding_weight(int level) {
  if (level < 1) return 1'200;
  constexpr std::uint64_t kByLevel[] = {1'500, 1'500, 1'900, 1'900, 4'600,
                                        6'600, 7'500, 7'500, 7'500};
  if (level <= kHighestBoundedLevel) return kByLevel[level - 1];
  return level <= 12 ? 25'000 : 120'000;
}

// Work to find out whether a block is worth compressing, and to begin a block.
inline constexpr Work kProbingWork = 3'000;
inline constexpr Work kBeginningWork = 4'000;

constexpr Work encoding_work(int level, std::size_t plain) {
  return kBeginningWork + work_of(plain, encoding_weight(level));
}

// The most plain bytes of a block.
constexpr std::size_t largest_block(int level) {
  if (level > kHighestBoundedLevel) return kMaxPlainBlock;
  const std::size_t most = (kMostEncodingWork - kBeginningWork) * 1000 / encoding_weight(level);
  return std::min(most, kMaxPlainBlock);
}

// A zstd frame is made of parts (RFC 8878 section 3.1.1.2), and each of them may bring tables. A
// usual compressor makes one part for a block, at most some dozens at the highest levels. A hostile
// one could make thousands.
inline constexpr std::size_t kMostParts = 64;

constexpr Work decoding_work(std::size_t encoded, std::size_t plain, std::size_t parts) {
  return 3'000 * parts + work_of(encoded, 300) + work_of(plain, 700);
}

// Work to look at a block of a stream, whatever is in it.
inline constexpr Work kBlockWork = 400;

}  // namespace satrelay::compress
