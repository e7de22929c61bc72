#include "pep/base/arena.h"

#include <algorithm>
#include <bit>

#include "pep/base/check.h"

namespace satrelay {

Arena::Arena(MutableBytes memory, std::size_t block_size, std::size_t reserve_size)
    : memory_(memory),
      shift_(static_cast<unsigned>(std::countr_zero(block_size))),
      total_(0),
      reserve_size_(reserve_size),
      reserves_of_a_block_(reserve_size == 0 ? 0 : block_size / reserve_size),
      own_pool_(std::make_unique<ArenaPool>()),
      pool_(own_pool_.get()),
      is_part_(false) {
  SATRELAY_CHECK(std::has_single_bit(block_size));
  SATRELAY_CHECK(reserve_size == 0 || std::has_single_bit(reserve_size));
  SATRELAY_CHECK(reserve_size <= block_size && reserves_of_a_block_ <= kMostReservesOfABlock);
  // kNoBlock must never be the index of a real block.
  total_ = std::min<std::size_t>(memory.size() >> shift_, kNoBlock);
  SATRELAY_CHECK(total_ * reserves_of_a_block_ < kNoReserve);
  pool_->free.reserve(total_);
  // Pushes the blocks in descending order, so that allocate() returns them in ascending order.
  for (std::size_t i = total_; i > 0; --i) pool_->free.push_back(static_cast<BlockIndex>(i - 1));
  pool_->divisions.resize(total_);
}

Arena::Arena(Arena& whole, const Kept& kept)
    : memory_(whole.memory_),
      shift_(whole.shift_),
      total_(whole.total_),
      reserve_size_(whole.reserve_size_),
      reserves_of_a_block_(whole.reserves_of_a_block_),
      pool_(whole.pool_),
      is_part_(true),
      kept_for_(kept) {
  SATRELAY_CHECK(used_blocks() == 0);
  ++pool_->parts;
  pool_->promised += kept.promised;
  if (reserves_of_a_block_ > 0) {
    blocks_kept_for_reserves_ = (kept.reserves + reserves_of_a_block_ - 1) / reserves_of_a_block_;
  }
  pool_->kept_blocks_of_reserves += blocks_kept_for_reserves_;
  keep_from_others();
}

// Counts the free reserves in blocks that are already divided, even if no whole block is free.
std::size_t Arena::free_reserves() const {
  std::uint64_t more = most_for_reserves() - pool_->blocks_of_reserves;
  if (is_shared()) {
    const std::uint64_t own = kept_blocks_of_reserves();
    const std::uint64_t others =
        std::min<std::uint64_t>(pool_->kept_blocks_of_reserves - own, most_for_reserves() / 2);
    more = available_to_one(more, others + own, own);
  }
  more = std::min<std::uint64_t>(more, free_blocks());
  return room_in_divisions() + static_cast<std::size_t>(more) * reserves_of_a_block_;
}

std::size_t Arena::sure_reserves() const {
  if (!is_shared()) return free_reserves();
  const std::uint64_t sure = kept_blocks_of_reserves() * reserves_of_a_block_;
  const std::uint64_t of_bytes = (kept_ >> shift_) * reserves_of_a_block_;
  return std::min(free_reserves(),
                  room_in_divisions() + static_cast<std::size_t>(std::min(sure, of_bytes)));
}

ReserveIndex Arena::take_reserve() {
  if (reserve_size_ == 0 || free_reserves() == 0) return kNoReserve;
  if (partly_taken_ == kNoBlock) {
    const BlockIndex fresh = pool_->take_free_block();
    pool_->divisions[fresh] = {};
    pool_->list(partly_taken_, fresh);
    count_blocks_of_reserves(blocks_of_reserves_ + 1);
    count(block_size());
  }
  const BlockIndex block = partly_taken_;
  ArenaPool::Division& division = pool_->divisions[block];
  const auto within = static_cast<std::size_t>(std::countr_one(division.taken));
  division.taken = static_cast<std::uint16_t>(division.taken | 1U << within);
  ++pool_->reserves_taken;
  ++reserves_held_;
  if (is_full(division)) pool_->unlist(partly_taken_, block);
  return static_cast<ReserveIndex>(block * reserves_of_a_block_ + within);
}

void Arena::return_reserve(ReserveIndex reserve) {
  const auto block = static_cast<BlockIndex>(reserve / reserves_of_a_block_);
  ArenaPool::Division& division = pool_->divisions[block];
  const unsigned bit = 1U << (reserve % reserves_of_a_block_);
  SATRELAY_CHECK((division.taken & bit) != 0);
  if (is_full(division)) pool_->list(partly_taken_, block);
  division.taken = static_cast<std::uint16_t>(division.taken & ~bit);
  --pool_->reserves_taken;
  --reserves_held_;
  if (division.taken != 0) return;
  pool_->unlist(partly_taken_, block);
  pool_->free.push_back(block);
  // count_back() limits `kept_` to the number of free bytes, so the block must already be in the
  // list of free blocks.
  count_blocks_of_reserves(blocks_of_reserves_ - 1);
  count_back(block_size());
}

void Arena::image(Image& image) {
  if (own_pool_) image(*own_pool_);
  image(held_, reserves_held_, blocks_of_reserves_, partly_taken_, promise_used_, kept_);
  if (!image.reads()) return;
  const bool is_sound = !own_pool_ || own_pool_->has_sound_lists(total_);
  if (!is_sound || (partly_taken_ != kNoBlock && partly_taken_ >= total_)) image.fail();
}

bool ArenaPool::has_sound_lists(std::size_t blocks) const {
  if (divisions.size() != blocks) return false;
  std::vector<bool> is_free(blocks);
  for (const BlockIndex block : free) {
    if (block >= blocks || is_free[block]) return false;
    is_free[block] = true;
  }
  const auto may_be_listed = [&](BlockIndex block) { return block == kNoBlock || block < blocks; };
  for (std::size_t block = 0; block < blocks; ++block) {
    const Division& division = divisions[block];
    if (is_free[block] && (division.taken | division.in_images) != 0) return false;
    if (!may_be_listed(division.previous) || !may_be_listed(division.next)) return false;
  }
  return true;
}

void Arena::count_blocks_of_reserves(std::uint64_t held) {
  const std::uint64_t before = kept_blocks_of_reserves();
  pool_->blocks_of_reserves += held - blocks_of_reserves_;
  blocks_of_reserves_ = held;
  pool_->kept_blocks_of_reserves += kept_blocks_of_reserves() - before;
}

bool Arena::is_full(const ArenaPool::Division& division) const {
  return std::popcount(division.taken) == static_cast<int>(reserves_of_a_block_);
}

}  // namespace satrelay
