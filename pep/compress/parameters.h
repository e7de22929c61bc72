// How zstd searches at each of our levels. Levels 6 to 9 search less than zstd's own, which take up
// to 0.9 ms for a block of 64 KiB. Ours search lazily, with 64 Ki places in the hash table, for
// matches of five bytes or more. Then a block of that size takes less than half a millisecond, and
// becomes 2% longer at most (docs/measurements.md, "Compression").
#pragma once

#include <cstddef>

// For parameters beside the level.
#ifndef ZSTD_STATIC_LINKING_ONLY
#define ZSTD_STATIC_LINKING_ONLY
#endif
#include <zstd.h>

namespace satrelay::compress {

// `dictionary`: its size in bytes; 0: there is none.
ZSTD_compressionParameters parameters_of(int level, std::size_t plain, std::size_t dictionary);
// For all blocks from now on that use no dictionary.
void apply_level(ZSTD_CCtx* context, int level);

}  // namespace satrelay::compress
