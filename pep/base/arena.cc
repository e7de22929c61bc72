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
      reserves_of_a_block_(reserve_size == 0 ? 0 : block_size / reserve_size) {
  SATRELAY_CHECK(std::has_single_bit(block_size));
  SATRELAY_CHECK(reserve_size == 0 || std::has_single_bit(reserve_size));
  SATRELAY_CHECK(reserve_size <= block_size && reserves_of_a_block_ <= kMostReservesOfABlock);
  // kNoBlock must never be the index of a real block.
  total_ = std::min<std::size_t>(memory.size() >> shift_, kNoBlock);
  SATRELAY_CHECK(total_ * reserves_of_a_block_ < kNoReserve);
  free_.reserve(total_);
  // Descending, so that a fresh arena hands out its memory from the front.
  for (std::size_t i = total_; i > 0; --i) free_.push_back(static_cast<BlockIndex>(i - 1));
  if (reserve_size > 0) {
    divisions_.resize(total_);
    partly_taken_.reserve(most_for_reserves());
  }
}

ReserveIndex Arena::take_reserve() {
  if (partly_taken_.empty()) {
    if (reserve_size_ == 0 || blocks_of_reserves_ == most_for_reserves()) return kNoReserve;
    const BlockIndex block = allocate();
    if (block == kNoBlock) return kNoReserve;
    ++blocks_of_reserves_;
    divisions_[block] = {};
    partly_taken_.push_back(block);
  }
  const BlockIndex block = partly_taken_.back();
  Division& division = divisions_[block];
  const auto within = static_cast<std::size_t>(std::countr_one(division.taken));
  division.taken |= 1U << within;
  ++reserves_taken_;
  if (std::popcount(division.taken) == static_cast<int>(reserves_of_a_block_)) {
    partly_taken_.pop_back();
  }
  return static_cast<ReserveIndex>(block * reserves_of_a_block_ + within);
}

void Arena::return_reserve(ReserveIndex reserve) {
  const auto block = static_cast<BlockIndex>(reserve / reserves_of_a_block_);
  Division& division = divisions_[block];
  const std::uint32_t bit = 1U << (reserve % reserves_of_a_block_);
  SATRELAY_CHECK((division.taken & bit) != 0);
  if (std::popcount(division.taken) == static_cast<int>(reserves_of_a_block_)) {
    division.place = static_cast<std::uint32_t>(partly_taken_.size());
    partly_taken_.push_back(block);
  }
  division.taken &= ~bit;
  --reserves_taken_;
  if (division.taken != 0) return;
  leave_partly_taken(division);
  --blocks_of_reserves_;
  release(block);
}

void Arena::leave_partly_taken(const Division& division) {
  const BlockIndex last = partly_taken_.back();
  partly_taken_[division.place] = last;
  divisions_[last].place = division.place;
  partly_taken_.pop_back();
}

}  // namespace satrelay
