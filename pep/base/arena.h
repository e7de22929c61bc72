// A fixed pool of equal blocks, allocated once at start-up. Stored stream bytes live here, so that
// no packet costs a heap allocation and memory has one visible limit.
//
// An owner may hold a reserve: a small piece of a block. The owner may keep the reserve as long as
// it needs it, and can store a few bytes there when no block is free. Several reserves share a
// block. The block becomes free when its last reserve is returned. Reserves occupy at most half of
// the blocks.
//
// Several owners may share a pool. Each owner has a part: an Arena object that takes blocks from
// the shared pool, but leaves free the blocks that are kept for other parts. All reserves in one
// block belong to the same part, and the whole block counts as memory of that part. Otherwise an
// owner could take one reserve in each of many blocks, and so occupy memory that is kept for other
// owners.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "pep/base/arena_images.h"
#include "pep/base/arena_pool.h"
#include "pep/base/bytes.h"
#include "pep/base/check.h"
#include "pep/base/equal_parts.h"
#include "pep/base/image/image.h"

namespace satrelay {

class Arena {
 public:
  static constexpr std::size_t kMostReservesOfABlock = 16;

  // Memory that is kept for one part. If the part does not hold that much yet, the other parts must
  // leave the missing bytes free.
  struct Kept {
    // Number of bytes that the owner has promised to store for peers. The peers may send them at
    // any time (see use_promise()).
    std::uint64_t promised = 0;
    std::uint64_t beside = 0;  // bytes kept for all other uses
    // Number of reserves that are kept for the part. The two values above include the memory of
    // these reserves.
    std::uint64_t reserves = 0;
  };

  // Divides `memory`, which must outlive the arena, into blocks of `block_size` bytes (a power of
  // two). A remainder smaller than a block stays unused. A reserve has `reserve_size` bytes: a
  // power of two from a sixteenth of a block to a whole block, or zero for an arena without
  // reserves.
  Arena(MutableBytes memory, std::size_t block_size, std::size_t reserve_size = 0);
  // Makes a part of `whole`, which must outlive the part. No block of `whole` may be in use yet. If
  // there is only one part, it may take all blocks of `whole`.
  Arena(Arena& whole, const Kept& kept);
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  // Returns kNoBlock if no block is left. The contents of the block are undefined.
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

  // Returns kNoReserve if no reserve is left. The contents of the reserve are undefined.
  [[nodiscard]] ReserveIndex take_reserve();
  void return_reserve(ReserveIndex reserve);

  // Returns the record of which blocks and reserves belong to images.
  ArenaImages images() { return {*pool_, reserves_of_a_block_}; }

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
  std::size_t total_blocks() const { return total_; }  // counts the whole arena, even in a part
  // Number of blocks that allocate() can still return.
  std::size_t free_blocks() const {
    if (!is_shared()) return pool_->free.size();
    return static_cast<std::size_t>(free_beside_others() >> shift_);
  }
  // Number of blocks that are in use by any part, including blocks of reserves.
  std::size_t used_blocks() const { return total_ - pool_->free.size(); }

  std::size_t reserve_size() const { return reserve_size_; }
  std::size_t free_reserves() const;
  std::size_t reserves_taken() const { return pool_->reserves_taken; }
  std::size_t blocks_of_reserves() const { return pool_->blocks_of_reserves; }
  std::size_t most_reserves() const { return most_for_reserves() * reserves_of_a_block_; }

  // --- parts ----------------------------------------------------------------------------------
  // Whether this object is one of several parts of the same memory.
  bool is_shared() const { return is_part_ && pool_->parts > 1; }
  // Bytes that this part holds, including blocks of reserves.
  std::uint64_t held() const { return held_; }
  std::uint64_t reserves_held() const { return reserves_held_; }
  // Number of blocks that the part holds, plus the number that it may take now. The sum decreases
  // if another part takes blocks that are kept for no part.
  std::size_t attainable_blocks() const {
    if (!is_shared()) return total_;
    return static_cast<std::size_t>(held_ >> shift_) + free_blocks();
  }
  // Number of further reserves that the part can take, even if the other parts take all they can.
  std::size_t sure_reserves() const;
  // Number of blocks that the part can hold in total, even if the other parts take all they can.
  std::size_t sure_blocks() const {
    if (!is_shared()) return total_;
    return static_cast<std::size_t>((kept_for_.promised + kept_for_.beside) >> shift_);
  }
  // Number of bytes of the whole arena that no part has promised to peers.
  std::uint64_t beside_promises() const {
    const std::uint64_t all = std::uint64_t{total_} << shift_;
    return all - std::min(all, pool_->promised);
  }

  // --- promised memory: peers may send this number of bytes at any time ------------------------
  std::uint64_t promised() const { return kept_for_.promised; }
  std::uint64_t promise_left() const {
    return kept_for_.promised - std::min(kept_for_.promised, promise_used_);
  }
  std::uint64_t promise_used() const { return promise_used_; }
  // use_promise() records that peers have sent `bytes` of the promised bytes, and that this part
  // stores them. renew_promise() records that `bytes` of the stored bytes were removed, so peers
  // may send as many again.
  void use_promise(std::uint64_t bytes) {
    promise_used_ += bytes;
    keep();
  }
  void renew_promise(std::uint64_t bytes) {
    promise_used_ -= bytes;
    keep();
  }
  // Sets the promise of an arena that is not a part.
  void set_promised(std::uint64_t bytes) { kept_for_.promised = bytes; }

  // The image contains which blocks and reserves are taken, how many of them each part holds, and
  // which of them belong to images. It contains neither the memory itself nor the sizes. The image
  // of a whole arena comes before the images of its parts.
  void image(Image& image);

  // Number of free bytes that are now kept: kept() for this part, kept_for_all() for all parts
  // together.
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
  // Updates `kept_`, the number of free bytes that the other parts must not take. It is the larger
  // of two values: the kept memory that this part does not hold yet, and the promised bytes that
  // peers have not sent yet. But it never exceeds the free bytes that are not kept for other parts.
  // So if this part has used promised memory for other purposes, the other parts need not replace
  // that memory.
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
  // Number of free reserves in blocks that this part has already divided.
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
  BlockIndex partly_taken_ = kNoBlock;  // head of the part's list of blocks with a free reserve
  std::uint64_t promise_used_ = 0;
  std::uint64_t kept_ = 0;  // free bytes kept for this part; included in the pool's `kept`
};

}  // namespace satrelay
