// Stores the bytes of a stream by their absolute offsets. Key k stands for the k-th block-sized
// range of offsets. Each key has one block or none. The ring holds the keys from the lowest to the
// highest stored block. It grows by doubling, so it allocates rarely, and not at all in steady
// state.
//
// A ring can own a reserve of the arena. The base is the offset below which all bytes were
// released. Bytes above the base, up to the size of the reserve, can always be stored: in the block
// of their key if there is one, else in the reserve, which is a circular buffer. So a stream can go
// on with its reserve alone when memory is short. When a block is allocated for a key, the bytes of
// that key are copied from the reserve into the block.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <new>

#include "pep/base/arena.h"
#include "pep/base/check.h"
#include "pep/base/containers/range_set.h"
#include "pep/base/image/image.h"

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

  // Takes a reserve. The ring must have no reserve and store nothing. Returns false if the arena
  // has no free reserve.
  [[nodiscard]] bool own();
  // Returns the reserve to the arena, if there is one. The ring must store nothing.
  void disown();
  bool has_reserve() const { return reserve_ != kNoReserve; }

  // Returns the contiguous space for bytes from `offset` on. `offset` must not be below the base.
  // `wanted` is the number of bytes that the caller is about to write. Returns an empty span if the
  // arena has no free block and `offset` lies beyond the reserve, or if the ring would span more
  // than kMaxKeys keys. A block is taken only if the wanted bytes do not fit into the reserve.
  [[nodiscard]] MutableBytes room_at(std::uint64_t offset, std::size_t wanted) {
    const std::uint64_t key = offset >> arena_->block_shift();
    if (const BlockIndex block = block_of(key); block != kNoBlock) {
      return run_of_block(block, offset);
    }
    return room_without_block(offset, wanted);
  }
  // Returns a contiguous run of the bytes stored from `offset` on. The run may end with bytes that
  // were never written.
  ConstBytes at(std::uint64_t offset) const {
    const BlockIndex block = find(offset);
    if (block != kNoBlock) return run_of_block(block, offset);
    SATRELAY_CHECK(has_reserve() && offset >= base_ && offset < reserve_end());
    return run_of_reserve(offset);
  }
  // Returns the offset up to which all bytes from `offset` on can be stored if the arena gives the
  // ring `blocks` more blocks.
  std::uint64_t room_end(std::uint64_t offset, std::uint64_t blocks) const {
    const std::uint64_t key = offset >> arena_->block_shift();
    const std::uint64_t next = key + (find(offset) == kNoBlock ? 0 : 1);
    // Keys that lie wholly in the reserve need no block.
    const std::uint64_t first = std::max(next, own_end() >> arena_->block_shift());
    return std::max({(first + blocks) << arena_->block_shift(), own_end(), offset});
  }
  std::uint64_t base() const { return base_; }
  // Bytes from the base up to this offset can always be stored.
  std::uint64_t own_end() const { return base_ + (has_reserve() ? arena_->reserve_size() : 0); }

  // Releases the bytes below `offset`, and frees each block that lies wholly below it.
  void release_below(std::uint64_t offset);
  // Frees every block that lies wholly within [begin, end).
  void release_within(std::uint64_t begin, std::uint64_t end);
  // Frees all blocks and moves the base to `offset`, where the next bytes will be stored.
  void clear(std::uint64_t offset);

  // Frees the ring's own memory if the ring holds no block.
  void trim() {
    if (!has_keys()) ring_.reset();
  }

  // To write an image, moves the blocks and the reserve from this ring to the image, and leaves the
  // ring empty. To read an image, moves them to this ring, which must be empty before.
  void image(Image& image);

  // blocks_held() and covers() visit the keys one by one: O(keys).
  std::size_t blocks_held() const;
  bool covers(Range range) const;

  const Arena& arena() const { return *arena_; }

 private:
  // Maximum number of keys that a ring may span. This limits the memory of the ring's array. With
  // blocks of 4 KiB, the keys span 64 GiB of a stream.
  static constexpr std::uint64_t kMaxKeys = std::uint64_t{1} << 24;

  // Returns the block that holds `offset`, or kNoBlock if there is none.
  BlockIndex find(std::uint64_t offset) const { return block_of(offset >> arena_->block_shift()); }
  BlockIndex block_of(std::uint64_t key) const {
    return ring_ && key - ring_->first < ring_->keys ? ring_->place(key) : kNoBlock;
  }
  MutableBytes run_of_block(BlockIndex block, std::uint64_t offset) const {
    const std::size_t within = offset & (arena_->block_size() - 1);
    return {arena_->data(block) + within, arena_->block_size() - within};
  }
  MutableBytes run_of_reserve(std::uint64_t offset) const {
    const std::size_t within = offset & (arena_->reserve_size() - 1);
    return {arena_->data_of_reserve(reserve_) + within, arena_->reserve_size() - within};
  }
  MutableBytes room_without_block(std::uint64_t offset, std::size_t wanted);
  BlockIndex add_block(std::uint64_t key);
  void take_over(std::uint64_t key, BlockIndex block);
  void grow(std::uint64_t keys);
  void move_block(BlockIndex& block, Image& image);
  void move_reserve(Image& image);

  bool has_keys() const { return ring_ && ring_->keys > 0; }
  // No byte at or above this offset lies in the reserve.
  std::uint64_t reserve_end() const { return base_ + reserve_used_; }
  void move_base(std::uint64_t base) {
    const std::uint64_t used_to = reserve_end();
    base_ = base;
    reserve_used_ = static_cast<std::uint32_t>(used_to > base ? used_to - base : 0);
  }

  // Header of the ring. An array of mask + 1 block numbers follows it in the same allocation.
  struct Ring {
    std::uint64_t first = 0;  // the lowest key
    std::uint32_t keys = 0;
    std::uint32_t mask = 0;

    std::uint64_t end() const { return first + keys; }
    BlockIndex& place(std::uint64_t key) {
      return reinterpret_cast<BlockIndex*>(this + 1)[key & mask];
    }
    BlockIndex place(std::uint64_t key) const {
      return reinterpret_cast<const BlockIndex*>(this + 1)[key & mask];
    }
  };
  static_assert(sizeof(Ring) % alignof(BlockIndex) == 0);
  struct Free {
    void operator()(Ring* ring) const { ::operator delete(ring); }
  };
  using RingPtr = std::unique_ptr<Ring, Free>;
  static RingPtr make_ring(std::uint64_t places);

  Arena* arena_;
  RingPtr ring_;            // allocated with the first block
  std::uint64_t base_ = 0;  // all bytes below this offset were released
  ReserveIndex reserve_ = kNoReserve;
  std::uint32_t reserve_used_ = 0;
};

}  // namespace satrelay
