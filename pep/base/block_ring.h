// Maps absolute stream offsets to arena blocks: block k holds offsets [k, k+1) << shift. The ring
// grows by doubling (amortised, never per packet in steady state) and may have holes. Its keys span
// from the lowest to the highest block stored, wherever in the stream those lie.
//
// A ring can have blocks of its own: so many are set aside in the arena for the first keys from the
// base on, below which everything was released. What is stored there never waits for others.
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
  ~BlockRing() {
    clear(0);
    disown();
  }

  // The first `blocks` from the base on are the ring's own from now on, of which it has none yet;
  // false if the arena has not as many. Nothing is stored yet.
  [[nodiscard]] bool own(std::uint32_t blocks);
  // None is its own any more. Nothing is stored.
  void disown();

  // The block that holds `offset`, or kNoBlock if none is stored there.
  BlockIndex find(std::uint64_t offset) const {
    const std::uint64_t key = offset >> arena_->block_shift();
    return key < first_ || key >= end_ ? kNoBlock : ring_[key & mask_];
  }
  // As find(), but takes a block from the arena where none is; kNoBlock when the arena has no more
  // for everybody and it is none of the ring's own, or when the blocks stored would span more than
  // kMaxKeys keys.
  [[nodiscard]] BlockIndex find_or_allocate(std::uint64_t offset);
  // Gives back every block that lies wholly below `offset`.
  void release_below(std::uint64_t offset);
  // Gives back every block that lies wholly within [begin, end).
  void release_within(std::uint64_t begin, std::uint64_t end);
  // Gives back all blocks; the next one stored will be at or after `offset`.
  void clear(std::uint64_t offset);

  // Where the ring's own blocks end: what lies between the base and this can always be stored.
  std::uint64_t own_end() const { return (base_ + own_) << arena_->block_shift(); }
  std::uint32_t own_blocks() const { return own_; }

  // Counted, both O(keys).
  std::size_t blocks_held() const;
  std::size_t own_blocks_held() const;
  bool covers(Range range) const;

  Arena& arena() { return *arena_; }
  const Arena& arena() const { return *arena_; }

 private:
  // Bounds the ring itself: 64 GiB of stream in blocks of 4 KiB.
  static constexpr std::uint64_t kMaxKeys = std::uint64_t{1} << 24;

  bool is_own(std::uint64_t key) const { return key - base_ < own_; }
  BlockIndex take(std::uint64_t key);
  void give_back(std::uint64_t key, BlockIndex block);
  void move_base(std::uint64_t base);
  BlockIndex extend(std::uint64_t key);
  void grow(std::uint64_t keys);
  Arena* arena_;
  std::vector<BlockIndex> ring_;
  std::uint64_t mask_ = 0;
  std::uint64_t first_ = 0;  // keys in [first_, end_) are in the ring
  std::uint64_t end_ = 0;
  std::uint64_t base_ = 0;  // everything below this key was released
  std::uint32_t own_ = 0;   // keys from the base on
};

}  // namespace satrelay
