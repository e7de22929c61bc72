// A fixed pool of equal blocks, sized once at start-up. Stored stream bytes live here, so that no
// packet costs a heap allocation and memory has one visible limit.
//
// A holder may have a reserve: a small piece of a block that is its own for as long as it likes.
// However short memory is, it can go on with that. Several reserves share a block, which goes back
// when it has none any more. They take half of the blocks at most.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "pep/base/bytes.h"
#include "pep/base/check.h"

namespace satrelay {

using BlockIndex = std::uint32_t;
inline constexpr BlockIndex kNoBlock = 0xffff'ffffU;

using ReserveIndex = std::uint32_t;
inline constexpr ReserveIndex kNoReserve = ~ReserveIndex{0};

class Arena {
 public:
  static constexpr std::size_t kMostReservesOfABlock = 16;

  // Divides `memory`, which must outlive the arena, into blocks of `block_size` bytes (a power of
  // two); a rest smaller than a block stays unused. Reserves have `reserve_size` bytes: a power of
  // two, between the size of a block and a sixteenth of it; 0: there are none.
  Arena(MutableBytes memory, std::size_t block_size, std::size_t reserve_size = 0);
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  // kNoBlock when there are no more. Block contents are undefined.
  [[nodiscard]] BlockIndex allocate() {
    if (free_.empty()) return kNoBlock;
    const BlockIndex block = free_.back();
    free_.pop_back();
    return block;
  }
  void release(BlockIndex block) { free_.push_back(block); }  // capacity reserved: never allocates

  // kNoReserve when there are no more. Contents are undefined.
  [[nodiscard]] ReserveIndex take_reserve();
  void return_reserve(ReserveIndex reserve);

  std::byte* data(BlockIndex block) { return memory_.data() + (std::size_t{block} << shift_); }
  const std::byte* data(BlockIndex block) const {
    return memory_.data() + (std::size_t{block} << shift_);
  }
  std::byte* data_of_reserve(ReserveIndex reserve) {
    return memory_.data() + std::size_t{reserve} * reserve_size_;
  }
  const std::byte* data_of_reserve(ReserveIndex reserve) const {
    return memory_.data() + std::size_t{reserve} * reserve_size_;
  }

  std::size_t block_size() const { return std::size_t{1} << shift_; }
  unsigned block_shift() const { return shift_; }
  std::size_t total_blocks() const { return total_; }
  std::size_t free_blocks() const { return free_.size(); }
  std::size_t used_blocks() const { return total_ - free_.size(); }  // those of reserves too

  std::size_t reserve_size() const { return reserve_size_; }
  std::size_t free_reserves() const {
    const std::size_t more = std::min(free_blocks(), most_for_reserves() - blocks_of_reserves_);
    return (more + blocks_of_reserves_) * reserves_of_a_block_ - reserves_taken_;
  }
  std::size_t reserves_taken() const { return reserves_taken_; }
  std::size_t blocks_of_reserves() const { return blocks_of_reserves_; }

 private:
  // Of a block that is divided into reserves.
  struct Division {
    std::uint32_t place = 0;  // in partly_taken_
    std::uint32_t taken = 0;  // a bit for each of its reserves
  };
  void leave_partly_taken(const Division& division);
  std::size_t most_for_reserves() const { return (total_ + 1) / 2; }

  MutableBytes memory_;
  unsigned shift_;
  std::size_t total_;
  std::vector<BlockIndex> free_;  // last released is first reused: its lines are still in cache

  std::size_t reserve_size_;
  std::size_t reserves_of_a_block_;
  std::size_t blocks_of_reserves_ = 0;
  std::size_t reserves_taken_ = 0;
  std::vector<Division> divisions_;       // by block
  std::vector<BlockIndex> partly_taken_;  // divided, with room for one reserve more
};

}  // namespace satrelay
