// What encoders of blocks count.
#pragma once

#include <array>
#include <cstdint>

#include "pep/base/counter_fields.h"

namespace satrelay::compress {

struct CodecCounters {
  std::uint64_t plain_bytes = 0, encoded_bytes = 0;
  std::uint64_t skipped_blocks = 0, compressed_blocks = 0, dictionary_blocks = 0;
  std::uint64_t expanded_blocks = 0;
  std::uint64_t time_ns = 0;  // 0 where nobody measures it

  static constexpr std::array<CounterField<CodecCounters>, 7> kFields{{
      {"plain_bytes", &CodecCounters::plain_bytes, "offered to the encoder", CounterUnit::kBytes},
      {"encoded_bytes", &CodecCounters::encoded_bytes, "came out of it, headers included",
       CounterUnit::kBytes},
      {"skipped_blocks", &CodecCounters::skipped_blocks,
       "blocks left alone by the entropy probe, the mode or the size"},
      {"compressed_blocks", &CodecCounters::compressed_blocks, "blocks that became smaller"},
      {"dictionary_blocks", &CodecCounters::dictionary_blocks,
       "blocks that became smaller with a dictionary"},
      {"expanded_blocks", &CodecCounters::expanded_blocks,
       "blocks compressed in vain, and sent raw"},
      {"time_ns", &CodecCounters::time_ns, "what compressing took", CounterUnit::kNanoseconds},
  }};
};
static_assert(lists_every_counter<CodecCounters>());

}  // namespace satrelay::compress
