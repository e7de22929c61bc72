// Maps absolute stream offsets to arena blocks: block k holds offsets [k, k+1) << shift. The ring
// grows by doubling (amortised, never per packet in steady state) and may have holes. Its keys span
// from the lowest to the highest block stored, wherever in the stream those lie.
#pragma once

#include <cstdint>
#include <vector>

#include "pep/base/arena.h"
#include "pep/base/range_set.h"

namespace satrelay {

class BlockRing {
 public:
  explicit BlockRing(Arena& arena) : arena_(&arena) {}
  BlockRing(const BlockRing&) = delete;
  BlockRing& operator=(const BlockRing&) = delete;
  ~BlockRing() { clear(0); }

  // The block that holds `offset`, or kNoBlock if none is stored there.
  BlockIndex find(std::uint64_t offset) const {
    const std::uint64_t key = offset >> arena_->block_shift();
    return key < first_ || key >= end_ ? kNoBlock : ring_[key & mask_];
  }
  // As find(), but takes a block from the arena where none is; kNoBlock when the arena is empty, or
  // when the blocks stored would span more than kMaxKeys keys.
  [[nodiscard]] BlockIndex find_or_allocate(std::uint64_t offset);
  // Gives back every block that lies wholly below `offset`.
  void release_below(std::uint64_t offset);
  // Gives back every block that lies wholly within [begin, end).
  void release_within(std::uint64_t begin, std::uint64_t end);
  // Gives back all blocks; the next one stored will be at or after `offset`.
  void clear(std::uint64_t offset);

  // Counted, both O(keys).
  std::size_t blocks_held() const;
  bool covers(Range range) const;

  Arena& arena() { return *arena_; }
  const Arena& arena() const { return *arena_; }

 private:
  // Bounds the ring itself: 64 GiB of stream in blocks of 4 KiB.
  static constexpr std::uint64_t kMaxKeys = std::uint64_t{1} << 24;

  BlockIndex extend(std::uint64_t key);
  void grow(std::uint64_t keys);
  Arena* arena_;
  std::vector<BlockIndex> ring_;
  std::uint64_t mask_ = 0;
  std::uint64_t first_ = 0;  // keys in [first_, end_) are in the ring
  std::uint64_t end_ = 0;
};

}  // namespace satrelay
