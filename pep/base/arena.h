// A fixed pool of equal blocks, sized once at start-up. Stored stream bytes live here, so that no
// packet costs a heap allocation and memory has one visible limit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "pep/base/bytes.h"

namespace satrelay {

using BlockIndex = std::uint32_t;
inline constexpr BlockIndex kNoBlock = 0xffff'ffffU;

class Arena {
 public:
  // Divides `memory`, which must outlive the arena, into blocks of `block_size` bytes (a power of
  // two); a rest smaller than a block stays unused.
  Arena(MutableBytes memory, std::size_t block_size);
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  // kNoBlock when exhausted. Block contents are undefined.
  [[nodiscard]] BlockIndex allocate() {
    if (free_.empty()) return kNoBlock;
    const BlockIndex block = free_.back();
    free_.pop_back();
    return block;
  }
  void release(BlockIndex block) { free_.push_back(block); }  // capacity reserved: never allocates

  std::byte* data(BlockIndex block) { return memory_.data() + (std::size_t{block} << shift_); }
  const std::byte* data(BlockIndex block) const {
    return memory_.data() + (std::size_t{block} << shift_);
  }

  std::size_t block_size() const { return std::size_t{1} << shift_; }
  unsigned block_shift() const { return shift_; }
  std::size_t total_blocks() const { return total_; }
  std::size_t free_blocks() const { return free_.size(); }
  std::size_t used_blocks() const { return total_ - free_.size(); }

 private:
  MutableBytes memory_;
  unsigned shift_;
  std::size_t total_;
  std::vector<BlockIndex> free_;  // last released is first reused: its lines are still in cache
};

}  // namespace satrelay
