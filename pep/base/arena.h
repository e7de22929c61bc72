// A fixed pool of equal blocks, sized once at start-up. Stored stream bytes live here, so that no
// packet costs a heap allocation and memory has one visible limit. A holder may have some blocks
// set aside, which nobody else can take: however short memory is, it can go on with these.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "pep/base/bytes.h"
#include "pep/base/check.h"

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

  // kNoBlock when all that is left is set aside. Block contents are undefined.
  [[nodiscard]] BlockIndex allocate() { return free_blocks() == 0 ? kNoBlock : pop(); }
  void release(BlockIndex block) { free_.push_back(block); }  // capacity reserved: never allocates

  // Sets blocks aside for the caller; false, and none, if fewer are free.
  [[nodiscard]] bool set_aside(std::size_t blocks) {
    if (free_blocks() < blocks) return false;
    set_aside_ += blocks;
    return true;
  }
  // Ends that for blocks that the caller does not hold.
  void give_up(std::size_t blocks) {
    SATRELAY_DCHECK(blocks <= set_aside_);
    set_aside_ -= blocks;
  }
  // One of those set aside for the caller: there always is one.
  [[nodiscard]] BlockIndex allocate_set_aside() {
    SATRELAY_CHECK(set_aside_ > 0);
    --set_aside_;
    return pop();
  }
  // It stays set aside for the caller.
  void release_set_aside(BlockIndex block) {
    release(block);
    ++set_aside_;
  }

  std::byte* data(BlockIndex block) { return memory_.data() + (std::size_t{block} << shift_); }
  const std::byte* data(BlockIndex block) const {
    return memory_.data() + (std::size_t{block} << shift_);
  }

  std::size_t block_size() const { return std::size_t{1} << shift_; }
  unsigned block_shift() const { return shift_; }
  std::size_t total_blocks() const { return total_; }
  std::size_t free_blocks() const { return free_.size() - set_aside_; }  // for everybody
  std::size_t used_blocks() const { return total_ - free_.size(); }
  std::size_t set_aside_blocks() const { return set_aside_; }  // of those not used

 private:
  BlockIndex pop() {
    const BlockIndex block = free_.back();
    free_.pop_back();
    return block;
  }

  MutableBytes memory_;
  unsigned shift_;
  std::size_t total_;
  std::size_t set_aside_ = 0;     // at most free_.size()
  std::vector<BlockIndex> free_;  // last released is first reused: its lines are still in cache
};

}  // namespace satrelay
