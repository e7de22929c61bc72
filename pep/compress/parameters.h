// zstd's search parameters at each of our levels. At levels 6 to 9, our parameters search less than
// zstd's own, which take up to 0.9 ms for a block of 64 KiB. Ours search lazily, with 64 Ki entries
// in the hash table, for matches of at least five bytes. Then a block of that size takes less than
// half a millisecond, and becomes at most 2% longer (docs/measurements.md, "Compression").
#pragma once

#include <cstddef>

// zstd declares parameters other than the level only with this macro.
#ifndef ZSTD_STATIC_LINKING_ONLY
#define ZSTD_STATIC_LINKING_ONLY
#endif
#include <zstd.h>

namespace satrelay::compress {

// `dictionary` is the size of the dictionary in bytes; 0 if there is none.
ZSTD_compressionParameters parameters_of(int level, std::size_t plain, std::size_t dictionary);
// Sets the parameters for all later blocks without a dictionary.
void apply_level(ZSTD_CCtx* context, int level);

}  // namespace satrelay::compress
