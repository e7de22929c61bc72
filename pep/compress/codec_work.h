// Weights for the codec's work on a block (pep/base/work_budget.h): a cost per octet, and fixed
// costs per block and per part of a frame. For encoding, the cost per octet depends on the level.
// The weights limit how large a block may be at levels up to kHighestBoundedLevel. At present, each
// of these levels allows kMaxPlainBlock.
//
// The weights of levels 1 to 9 are about the mean times to compress Debian's changelogs on one core
// with warm caches. This text takes longest in docs/measurements.md ("Compression").
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "pep/base/work_budget.h"

namespace satrelay::compress {

inline constexpr std::size_t kMaxPlainBlock = 64 * 1024;
// Up to this level, blocks are limited to a size that takes at most kMostEncodingWork. Above this
// level, the time of a block is not limited (docs/configuration.md, compress_level).
inline constexpr int kHighestBoundedLevel = 9;
// Maximum work to compress one block at a level up to kHighestBoundedLevel.
inline constexpr Work kMostEncodingWork = 500'000;

// Picoseconds to compress an octet.
constexpr std::uint64_t encoding_weight(int level) {
  if (level < 1) return 1'200;
  constexpr std::uint64_t kByLevel[] = {1'500, 1'500, 1'900, 1'900, 4'600,
                                        6'600, 7'500, 7'500, 7'500};
  if (level <= kHighestBoundedLevel) return kByLevel[level - 1];
  return level <= 12 ? 25'000 : 120'000;
}

// Fixed work to test whether a block is worth compressing, and to start the compression of a block.
inline constexpr Work kProbingWork = 3'000;
inline constexpr Work kBeginningWork = 4'000;

constexpr Work encoding_work(int level, std::size_t plain) {
  return kBeginningWork + work_of(plain, encoding_weight(level));
}

// Maximum number of plain bytes in a block at `level`.
constexpr std::size_t largest_block(int level) {
  if (level > kHighestBoundedLevel) return kMaxPlainBlock;
  const std::size_t most = (kMostEncodingWork - kBeginningWork) * 1000 / encoding_weight(level);
  return std::min(most, kMaxPlainBlock);
}

// A zstd frame consists of parts (RFC 8878 section 3.1.1.2), and each part may have tables of its
// own. A usual compressor makes one part per block, and at most some dozens at the highest levels.
// A hostile compressor could make thousands.
inline constexpr std::size_t kMostParts = 64;

constexpr Work decoding_work(std::size_t encoded, std::size_t plain, std::size_t parts) {
  return 3'000 * parts + work_of(encoded, 300) + work_of(plain, 700);
}

// Fixed work to inspect a block of a stream, independent of its contents.
inline constexpr Work kBlockWork = 400;

}  // namespace satrelay::compress
