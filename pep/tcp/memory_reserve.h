// Number of arena blocks that only in-order received data may use. Without this reserve,
// out-of-order data or the send buffers could hold the last block. Then the segment that is missing
// could not be stored, although only its arrival would release the blocks. No retransmission would
// end this deadlock.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "pep/base/arena.h"

namespace satrelay::tcp {

inline std::uint64_t reserve_blocks(const Arena& arena, std::size_t segment_size) {
  const std::uint64_t for_one_segment = segment_size / arena.block_size() + 2;
  return std::min<std::uint64_t>(std::max<std::uint64_t>(for_one_segment, arena.sure_blocks() / 64),
                                 arena.sure_blocks() / 2);
}

}  // namespace satrelay::tcp
