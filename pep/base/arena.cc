#include "pep/base/arena.h"

#include <algorithm>
#include <bit>

#include "pep/base/check.h"

namespace satrelay {

Arena::Arena(MutableBytes memory, std::size_t block_size)
    : memory_(memory), shift_(static_cast<unsigned>(std::countr_zero(block_size))), total_(0) {
  SATRELAY_CHECK(std::has_single_bit(block_size));
  // kNoBlock must never be the index of a real block.
  total_ = std::min<std::size_t>(memory.size() >> shift_, kNoBlock);
  free_.reserve(total_);
  // Descending, so that a fresh arena hands out its memory from the front.
  for (std::size_t i = total_; i > 0; --i) free_.push_back(static_cast<BlockIndex>(i - 1));
}

}  // namespace satrelay
