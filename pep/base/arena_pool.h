// State that the parts of an arena share: which blocks are free, and how blocks are divided into
// reserves (arena.h).
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "pep/base/image/image.h"

namespace satrelay {

using BlockIndex = std::uint32_t;
inline constexpr BlockIndex kNoBlock = 0xffff'ffffU;
using ReserveIndex = std::uint32_t;
inline constexpr ReserveIndex kNoReserve = ~ReserveIndex{0};

struct ArenaPool {
  // State of a block that is divided into reserves.
  struct Division {
    std::uint16_t taken = 0;  // one bit for each reserve of the block
    // One bit for each reserve of the block, set if an image owns the reserve (arena_images.h). If
    // the block is not divided, 1 means that an image owns the whole block.
    std::uint16_t in_images = 0;
    // Each part has a list of its blocks that have a free reserve. These are the neighbors of this
    // block in that list.
    BlockIndex previous = kNoBlock, next = kNoBlock;
    void image(Image& image) { image(taken, in_images, previous, next); }
  };

  BlockIndex take_free_block() {
    const BlockIndex block = free.back();
    free.pop_back();
    return block;
  }
  // Adds `block` to the front of a part's list of blocks with a free reserve. `first` is the head
  // of that list.
  void list(BlockIndex& first, BlockIndex block) {
    Division& division = divisions[block];
    division.previous = kNoBlock;
    division.next = first;
    if (first != kNoBlock) divisions[first].previous = block;
    first = block;
  }
  void unlist(BlockIndex& first, BlockIndex block) {
    const Division& division = divisions[block];
    if (division.next != kNoBlock) divisions[division.next].previous = division.previous;
    if (division.previous == kNoBlock) {
      first = division.next;
    } else {
      divisions[division.previous].next = division.next;
    }
  }
  // Whether each listed block exists, no block is in the list of free blocks twice, and no block is
  // both free and taken.
  bool has_sound_lists(std::size_t blocks) const;
  // The image does not contain the sizes and amounts that the configuration sets.
  void image(Image& image) { image(free, blocks_of_reserves, reserves_taken, divisions, kept); }

  // Stack of free blocks. The block released last is reused first, since it may still be in the
  // cache.
  std::vector<BlockIndex> free;
  std::size_t blocks_of_reserves = 0;
  std::size_t reserves_taken = 0;
  std::vector<Division> divisions;  // indexed by block
  std::size_t parts = 0;
  std::uint64_t promised = 0;                 // bytes, sum of all parts
  std::uint64_t kept = 0;                     // bytes, sum of all parts
  std::uint64_t kept_blocks_of_reserves = 0;  // blocks kept for reserves, sum of all parts
};

}  // namespace satrelay
