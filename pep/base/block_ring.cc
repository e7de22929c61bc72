#include "pep/base/block_ring.h"

#include <algorithm>
#include <bit>

#include "pep/base/check.h"

namespace satrelay {

bool BlockRing::own(std::uint32_t blocks) {
  SATRELAY_CHECK(own_ == 0 && first_ == end_);
  if (!arena_->set_aside(blocks)) return false;
  own_ = blocks;
  return true;
}

void BlockRing::disown() {
  SATRELAY_CHECK(first_ == end_);
  arena_->give_up(own_);
  own_ = 0;
}

BlockIndex BlockRing::take(std::uint64_t key) {
  return is_own(key) ? arena_->allocate_set_aside() : arena_->allocate();
}

void BlockRing::give_back(std::uint64_t key, BlockIndex block) {
  is_own(key) ? arena_->release_set_aside(block) : arena_->release(block);
}

BlockIndex BlockRing::find_or_allocate(std::uint64_t offset) {
  const std::uint64_t key = offset >> arena_->block_shift();
  if (key >= first_ && key < end_) {
    BlockIndex& entry = ring_[key & mask_];
    if (entry == kNoBlock) entry = take(key);
    return entry;
  }
  return extend(key);
}

// Stretches the span of keys to `key`, which lies outside it, and stores a block there. An empty
// ring has no span to stretch: it moves to `key`.
BlockIndex BlockRing::extend(std::uint64_t key) {
  const bool was_empty = first_ == end_;
  const std::uint64_t new_first = was_empty ? key : std::min(first_, key);
  const std::uint64_t new_end = was_empty ? key + 1 : std::max(end_, key + 1);
  if (new_end - new_first > kMaxKeys) return kNoBlock;
  const BlockIndex block = take(key);
  if (block == kNoBlock) return kNoBlock;
  if (new_end - new_first > ring_.size()) grow(new_end - new_first);
  if (was_empty) {
    first_ = key;
    end_ = key;
  }
  for (std::uint64_t k = new_first; k < first_; ++k) ring_[k & mask_] = kNoBlock;
  for (std::uint64_t k = end_; k < new_end; ++k) ring_[k & mask_] = kNoBlock;
  first_ = new_first;
  end_ = new_end;
  ring_[key & mask_] = block;
  return block;
}

void BlockRing::release_below(std::uint64_t offset) {
  const std::uint64_t base = offset >> arena_->block_shift();
  const std::uint64_t key = std::min(base, end_);
  for (; first_ < key; ++first_) {
    const BlockIndex block = ring_[first_ & mask_];
    if (block != kNoBlock) give_back(first_, block);
  }
  if (base > base_) move_base(base);
}

// Nothing is stored below `base`, which has moved on. Keys that have become the ring's own may have
// a block already, which need not be set aside then.
void BlockRing::move_base(std::uint64_t base) {
  const std::uint64_t begin = std::max(base_ + own_, base);
  base_ = base;
  for (std::uint64_t key = std::max(begin, first_); key < std::min(base_ + own_, end_); ++key) {
    if (ring_[key & mask_] != kNoBlock) arena_->give_up(1);
  }
}

void BlockRing::release_within(std::uint64_t begin, std::uint64_t end) {
  const std::uint64_t after = std::min(end >> arena_->block_shift(), end_);
  std::uint64_t key = (begin + arena_->block_size() - 1) >> arena_->block_shift();
  for (key = std::max(key, first_); key < after; ++key) {
    BlockIndex& entry = ring_[key & mask_];
    if (entry == kNoBlock) continue;
    give_back(key, entry);
    entry = kNoBlock;
  }
}

void BlockRing::clear(std::uint64_t offset) {
  for (; first_ < end_; ++first_) {
    const BlockIndex block = ring_[first_ & mask_];
    if (block != kNoBlock) give_back(first_, block);
  }
  first_ = offset >> arena_->block_shift();
  end_ = first_;
  base_ = first_;
}

std::size_t BlockRing::blocks_held() const {
  std::size_t held = 0;
  for (std::uint64_t key = first_; key < end_; ++key) held += ring_[key & mask_] != kNoBlock;
  return held;
}

std::size_t BlockRing::own_blocks_held() const {
  std::size_t held = 0;
  const std::uint64_t after = std::min(base_ + own_, end_);
  for (std::uint64_t key = std::max(base_, first_); key < after; ++key) {
    held += ring_[key & mask_] != kNoBlock;
  }
  return held;
}

bool BlockRing::covers(Range range) const {
  for (std::uint64_t at = range.begin; at < range.end; at += arena_->block_size()) {
    if (find(at) == kNoBlock) return false;
  }
  return range.size() == 0 || find(range.end - 1) != kNoBlock;
}

void BlockRing::grow(std::uint64_t keys) {
  constexpr std::uint64_t kMinKeys = 4;
  std::vector<BlockIndex> larger(std::bit_ceil(std::max(keys, kMinKeys)), kNoBlock);
  const std::uint64_t larger_mask = larger.size() - 1;
  for (std::uint64_t k = first_; k < end_; ++k) larger[k & larger_mask] = ring_[k & mask_];
  ring_ = std::move(larger);
  mask_ = larger_mask;
}

}  // namespace satrelay
