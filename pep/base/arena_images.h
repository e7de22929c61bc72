// Records which blocks and reserves of an arena belong to images (image/image.h). When an object is
// written to an image, its blocks pass from the object to the image. When an object is read from
// the image, they pass to the new object. take() refuses a block that does not belong to an image.
// So two objects never own the same block, even if the octets of an image are wrong.
#pragma once

#include <cstddef>
#include <cstdint>

#include "pep/base/arena_pool.h"

namespace satrelay {

class ArenaImages {
 public:
  ArenaImages(ArenaPool& pool, std::size_t reserves_of_a_block)
      : pool_(pool), reserves_of_a_block_(reserves_of_a_block) {}

  void give(BlockIndex block) { pool_.divisions[block].in_images = 1; }
  void give_reserve(ReserveIndex reserve) {
    ArenaPool::Division& division = division_of(reserve);
    division.in_images = static_cast<std::uint16_t>(division.in_images | bit_of(reserve));
  }
  // Returns false if no image owns the block or reserve, or if its number is out of range.
  [[nodiscard]] bool take(BlockIndex block) {
    if (block >= pool_.divisions.size()) return false;
    ArenaPool::Division& division = pool_.divisions[block];
    if (division.taken != 0 || division.in_images == 0) return false;
    division.in_images = 0;
    return true;
  }
  [[nodiscard]] bool take_reserve(ReserveIndex reserve) {
    if (reserve >= pool_.divisions.size() * reserves_of_a_block_) return false;
    ArenaPool::Division& division = division_of(reserve);
    if ((division.taken & division.in_images & bit_of(reserve)) == 0) return false;
    division.in_images = static_cast<std::uint16_t>(division.in_images & ~bit_of(reserve));
    return true;
  }

 private:
  ArenaPool::Division& division_of(ReserveIndex reserve) {
    return pool_.divisions[reserve / reserves_of_a_block_];
  }
  unsigned bit_of(ReserveIndex reserve) const { return 1U << (reserve % reserves_of_a_block_); }

  ArenaPool& pool_;
  std::size_t reserves_of_a_block_;
};

}  // namespace satrelay
