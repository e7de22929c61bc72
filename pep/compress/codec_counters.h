// Counters of the block encoders.
#pragma once

#include <array>
#include <cstdint>

#include "pep/base/counter_fields.h"
#include "pep/base/histogram.h"

namespace satrelay::compress {

struct CodecCounters {
  std::uint64_t plain_bytes = 0, encoded_bytes = 0;
  std::uint64_t skipped_blocks = 0, compressed_blocks = 0, dictionary_blocks = 0;
  std::uint64_t expanded_blocks = 0;
  std::uint64_t time_ns = 0;  // 0 if it is not measured

  static constexpr std::array<CounterField<CodecCounters>, 7> kFields{{
      {"plain_bytes", &CodecCounters::plain_bytes, "bytes before compression", CounterUnit::kBytes},
      {"encoded_bytes", &CodecCounters::encoded_bytes, "bytes after compression, headers included",
       CounterUnit::kBytes},
      {"skipped_blocks", &CodecCounters::skipped_blocks,
       "blocks not compressed: for the entropy probe, the mode or the size"},
      {"compressed_blocks", &CodecCounters::compressed_blocks, "blocks that became smaller"},
      {"dictionary_blocks", &CodecCounters::dictionary_blocks,
       "blocks that became smaller with a dictionary"},
      {"expanded_blocks", &CodecCounters::expanded_blocks,
       "blocks that compression did not make smaller, sent raw"},
      {"time_ns", &CodecCounters::time_ns, "time spent on compression", CounterUnit::kNanoseconds},
  }};
};
static_assert(lists_every_counter<CodecCounters>());

// The time to compress a block, whether the block became smaller or not. The histogram is empty if
// the time is not measured.
inline constexpr std::array<std::uint64_t, 12> kBlockCompressionBounds = {
    5'000,   10'000,    25'000,    50'000,    100'000,    250'000,
    500'000, 1'000'000, 2'500'000, 5'000'000, 10'000'000, 25'000'000};
inline constexpr HistogramField kBlockCompression = {.name = "block_compression_ns",
                                                     .label = "",
                                                     .help = "time to compress one block",
                                                     .unit = CounterUnit::kNanoseconds,
                                                     .bounds = kBlockCompressionBounds};

}  // namespace satrelay::compress
