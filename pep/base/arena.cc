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
      own_pool_(std::make_unique<Pool>()),
      pool_(own_pool_.get()),
      is_part_(false) {
  SATRELAY_CHECK(std::has_single_bit(block_size));
  SATRELAY_CHECK(reserve_size == 0 || std::has_single_bit(reserve_size));
  SATRELAY_CHECK(reserve_size <= block_size && reserves_of_a_block_ <= kMostReservesOfABlock);
  // kNoBlock must never be the index of a real block.
  total_ = std::min<std::size_t>(memory.size() >> shift_, kNoBlock);
  SATRELAY_CHECK(total_ * reserves_of_a_block_ < kNoReserve);
  pool_->free.reserve(total_);
  // Descending, so that a fresh arena hands out its memory from the front.
  for (std::size_t i = total_; i > 0; --i) pool_->free.push_back(static_cast<BlockIndex>(i - 1));
  if (reserve_size > 0) {
    pool_->divisions.resize(total_);
    pool_->partly_taken.reserve(most_for_reserves());
  }
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
  ++pool_->parts;
  pool_->promised += kept.promised;
  pool_->kept_reserves += kept.reserves;
  keep();
}

// Of reserves that share a block others have most: those find room however few blocks are left.
std::size_t Arena::free_reserves() const {
  const auto of_blocks = [this](std::size_t free) {
    const std::size_t more = std::min(free, most_for_reserves() - pool_->blocks_of_reserves);
    return (more + pool_->blocks_of_reserves) * reserves_of_a_block_ - pool_->reserves_taken;
  };
  if (!is_shared()) return of_blocks(pool_->free.size());
  const std::uint64_t own = kept_reserves();
  const std::uint64_t others =
      std::min<std::uint64_t>(pool_->kept_reserves - own, most_reserves() / 2);
  const std::uint64_t fair = available_to_one(of_blocks(pool_->free.size()), others + own, own);
  return std::min(static_cast<std::size_t>(fair), of_blocks(free_blocks()));
}

ReserveIndex Arena::take_reserve() {
  if (reserve_size_ == 0 || free_reserves() == 0) return kNoReserve;
  if (pool_->partly_taken.empty()) {
    const BlockIndex block = take_free_block();
    ++pool_->blocks_of_reserves;
    pool_->divisions[block] = {};
    pool_->partly_taken.push_back(block);
  }
  const BlockIndex block = pool_->partly_taken.back();
  Division& division = pool_->divisions[block];
  const auto within = static_cast<std::size_t>(std::countr_one(division.taken));
  division.taken |= 1U << within;
  ++pool_->reserves_taken;
  if (std::popcount(division.taken) == static_cast<int>(reserves_of_a_block_)) {
    pool_->partly_taken.pop_back();
  }
  count_reserve(reserves_held_ + 1);
  count(reserve_size_);
  return static_cast<ReserveIndex>(block * reserves_of_a_block_ + within);
}

void Arena::return_reserve(ReserveIndex reserve) {
  const auto block = static_cast<BlockIndex>(reserve / reserves_of_a_block_);
  Division& division = pool_->divisions[block];
  const std::uint32_t bit = 1U << (reserve % reserves_of_a_block_);
  SATRELAY_CHECK((division.taken & bit) != 0);
  if (std::popcount(division.taken) == static_cast<int>(reserves_of_a_block_)) {
    division.place = static_cast<std::uint32_t>(pool_->partly_taken.size());
    pool_->partly_taken.push_back(block);
  }
  division.taken &= ~bit;
  --pool_->reserves_taken;
  if (division.taken == 0) {
    leave_partly_taken(division);
    --pool_->blocks_of_reserves;
    pool_->free.push_back(block);
  }
  // Last: what is kept for this part is no more than what is free.
  count_reserve(reserves_held_ - 1);
  count_back(reserve_size_);
}

void Arena::count_reserve(std::uint64_t held) {
  const std::uint64_t before = kept_reserves();
  reserves_held_ = held;
  if (is_part_) pool_->kept_reserves += kept_reserves() - before;
}

void Arena::leave_partly_taken(const Division& division) {
  const BlockIndex last = pool_->partly_taken.back();
  pool_->partly_taken[division.place] = last;
  pool_->divisions[last].place = division.place;
  pool_->partly_taken.pop_back();
}

}  // namespace satrelay
