// A fixed pool of equal blocks, sized once at start-up. Stored stream bytes live here, so that no
// packet costs a heap allocation and memory has one visible limit.
//
// A holder may have a reserve: a small piece of a block that belongs to the holder for as long as
// it likes. However short memory is, the holder can go on with its reserve. Several reserves share
// a block. The block is free again when it has no reserve left. Reserves take half of the blocks at
// most.
//
// Several owners may share a pool. Each has a part: an arena that has the blocks of the whole one,
// but leaves the other parts as many as are kept for them. Reserves of two parts never share a
// block, and a part is charged for each block as a whole. Otherwise an owner with one reserve in
// each of many blocks would hold memory that is kept for others.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "pep/base/arena_pool.h"
#include "pep/base/bytes.h"
#include "pep/base/check.h"
#include "pep/base/equal_parts.h"
#include "pep/base/image/image.h"

namespace satrelay {

using ReserveIndex = std::uint32_t;
inline constexpr ReserveIndex kNoReserve = ~ReserveIndex{0};

class Arena {
 public:
  static constexpr std::size_t kMostReservesOfABlock = 16;

  // Memory kept for the owner of a part while the part holds less.
  struct Kept {
    // Bytes promised to peers, which may send them at any time (promise_used()).
    std::uint64_t promised = 0;
    std::uint64_t beside = 0;    // bytes for all else
    std::uint64_t reserves = 0;  // their blocks are among those bytes
  };

  // Divides `memory`, which must outlive the arena, into blocks of `block_size` bytes (a power of
  // two); a rest smaller than a block stays unused. Reserves have `reserve_size` bytes: a power of
  // two, from a sixteenth of a block to a whole block; 0: there are no reserves.
  Arena(MutableBytes memory, std::size_t block_size, std::size_t reserve_size = 0);
  // A part of `whole`, which must outlive the part. Nothing may have been taken from `whole` yet.
  // If there is only one part, it has all that the whole has.
  Arena(Arena& whole, const Kept& kept);
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  // kNoBlock if no block is left. Block contents are undefined.
  [[nodiscard]] BlockIndex allocate() {
    if (free_blocks() == 0) return kNoBlock;
    const BlockIndex block = pool_->take_free_block();
    count(block_size());
    return block;
  }
  void release(BlockIndex block) {
    pool_->free.push_back(block);  // capacity reserved: never allocates
    count_back(block_size());
  }

  // kNoReserve if no reserve is left. Contents are undefined.
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
  std::size_t total_blocks() const { return total_; }  // of the whole
  // Blocks that allocate() can give.
  std::size_t free_blocks() const {
    if (!is_shared()) return pool_->free.size();
    return static_cast<std::size_t>(free_beside_others() >> shift_);
  }
  std::size_t used_blocks() const { return total_ - pool_->free.size(); }  // those of reserves, too

  std::size_t reserve_size() const { return reserve_size_; }
  std::size_t free_reserves() const;
  std::size_t reserves_taken() const { return pool_->reserves_taken; }
  std::size_t blocks_of_reserves() const { return pool_->blocks_of_reserves; }
  std::size_t most_reserves() const { return most_for_reserves() * reserves_of_a_block_; }

  // --- parts ----------------------------------------------------------------------------------
  // Whether others have parts of the same memory.
  bool is_shared() const { return is_part_ && pool_->parts > 1; }
  std::uint64_t held() const { return held_; }  // bytes, including the blocks of its reserves
  std::uint64_t reserves_held() const { return reserves_held_; }
  // Blocks that the part holds or may take now. They become fewer when other parts take blocks that
  // are kept for no part.
  std::size_t attainable_blocks() const {
    if (!is_shared()) return total_;
    return static_cast<std::size_t>(held_ >> shift_) + free_blocks();
  }
  // Reserves that the part can have even if the other parts take all they can.
  std::size_t sure_reserves() const;
  // Blocks that the part can have whatever the other parts do.
  std::size_t sure_blocks() const {
    if (!is_shared()) return total_;
    return static_cast<std::size_t>((kept_for_.promised + kept_for_.beside) >> shift_);
  }
  // Bytes that are not promised to peers, of all parts.
  std::uint64_t beside_promises() const {
    const std::uint64_t all = std::uint64_t{total_} << shift_;
    return all - std::min(all, pool_->promised);
  }

  // --- memory promised to peers, which may send as much at any time ----------------------------
  std::uint64_t promised() const { return kept_for_.promised; }
  std::uint64_t promise_left() const {
    return kept_for_.promised - std::min(kept_for_.promised, promise_used_);
  }
  std::uint64_t promise_used() const { return promise_used_; }
  // use_promise(): peers sent so many of the promised bytes, and they count as stored here.
  // renew_promise(): so many are no longer stored.
  void use_promise(std::uint64_t bytes) {
    promise_used_ += bytes;
    keep();
  }
  void renew_promise(std::uint64_t bytes) {
    promise_used_ -= bytes;
    keep();
  }
  // For an arena that is not a part.
  void set_promised(std::uint64_t bytes) { kept_for_.promised = bytes; }

  // The accounts: which blocks and reserves are taken, and by which part. The memory itself, and
  // the sizes, are no part of it. A whole arena comes before its parts.
  void image(Image& image) {
    if (own_pool_) image(*own_pool_);
    image(held_, reserves_held_, blocks_of_reserves_, partly_taken_, promise_used_, kept_);
  }

  // To check the accounts: bytes kept for this part, and for all parts.
  std::uint64_t kept() const { return kept_; }
  std::uint64_t kept_for_all() const { return pool_->kept; }

 private:
  void count(std::uint64_t bytes) {
    held_ += bytes;
    keep();
  }
  void count_back(std::uint64_t bytes) {
    held_ -= bytes;
    keep();
  }
  // Bytes of free blocks that are not kept for other parts.
  std::uint64_t free_beside_others() const {
    const std::uint64_t free = std::uint64_t{pool_->free.size()} << shift_;
    const std::uint64_t others = pool_->kept - kept_;
    return free - std::min(free, others);
  }
  void keep() {
    if (is_shared()) keep_from_others();
  }
  // Memory that is promised to a peer stays kept for it whatever else its part holds, as long as
  // the part leaves blocks for it. If the part has used those blocks otherwise, the other parts do
  // not have to replace them.
  void keep_from_others() {
    const std::uint64_t part = kept_for_.promised + kept_for_.beside;
    const std::uint64_t wanted = std::max(part - std::min(part, held_), promise_left());
    const std::uint64_t kept = std::min(wanted, free_beside_others());
    pool_->kept += kept - kept_;
    kept_ = kept;
  }
  std::uint64_t kept_blocks_of_reserves() const {
    return blocks_kept_for_reserves_ - std::min(blocks_kept_for_reserves_, blocks_of_reserves_);
  }
  // Free reserves in blocks that are already divided.
  std::size_t room_in_divisions() const {
    return static_cast<std::size_t>(blocks_of_reserves_) * reserves_of_a_block_ -
           static_cast<std::size_t>(reserves_held_);
  }
  void count_blocks_of_reserves(std::uint64_t held);
  bool is_full(const ArenaPool::Division& division) const;
  std::size_t most_for_reserves() const { return (total_ + 1) / 2; }

  MutableBytes memory_;
  unsigned shift_;
  std::size_t total_;
  std::size_t reserve_size_;
  std::size_t reserves_of_a_block_;
  const std::unique_ptr<ArenaPool> own_pool_;  // nullptr in a part
  ArenaPool* const pool_;

  const bool is_part_;
  Kept kept_for_;
  std::uint64_t blocks_kept_for_reserves_ = 0;
  std::uint64_t held_ = 0;
  std::uint64_t reserves_held_ = 0;
  std::uint64_t blocks_of_reserves_ = 0;
  BlockIndex partly_taken_ = kNoBlock;  // the first block with room for another reserve
  std::uint64_t promise_used_ = 0;
  std::uint64_t kept_ = 0;  // bytes; a share of the pool's `kept`
};

}  // namespace satrelay
