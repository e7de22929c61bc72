// How zstd searches at each of our levels. Levels 6 to 9 search less than zstd's own, which take up
// to 0.9 ms for a block of 64 KiB: with 64 Ki places in the hash table, lazily, for matches of five
// bytes or more. Then a block of that size stays below half a millisecond, and becomes 2%
// longer at most (docs/measurements.md, "Compression").
#pragma once

#include <cstddef>

// For parameters that are not just a level.
#ifndef ZSTD_STATIC_LINKING_ONLY
#define ZSTD_STATIC_LINKING_ONLY
#endif
#include <zstd.h>

namespace satrelay::compress {

// `dictionary`: bytes of it, if there is one.
ZSTD_compressionParameters parameters_of(int level, std::size_t plain, std::size_t dictionary);
// For all blocks from now on that no dictionary serves.
void apply_level(ZSTD_CCtx* context, int level);

}  // namespace satrelay::compress
