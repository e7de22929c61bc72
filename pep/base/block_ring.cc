#include "pep/base/block_ring.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace satrelay {

bool BlockRing::own() {
  SATRELAY_CHECK(!has_reserve() && keys_ == 0);
  reserve_ = arena_->take_reserve();
  return has_reserve();
}

void BlockRing::disown() {
  if (!has_reserve()) return;
  SATRELAY_CHECK(keys_ == 0 && reserve_used_ == 0);
  arena_->return_reserve(reserve_);
  reserve_ = kNoReserve;
}

MutableBytes BlockRing::room_without_block(std::uint64_t offset, std::size_t wanted) {
  const std::uint64_t own = own_end();
  const std::uint64_t key = offset >> arena_->block_shift();
  const std::uint64_t key_end = (key + 1) << arena_->block_shift();
  if (offset >= own || std::min(offset + wanted, key_end) > own) {
    const BlockIndex block = add_block(key);
    if (block != kNoBlock) {
      if (reserve_used_ > 0) take_over(key, block);
      return run_of_block(block, offset);
    }
    if (offset >= own) return {};
  }
  const MutableBytes run = run_of_reserve(offset);
  const std::size_t size = std::min<std::uint64_t>({run.size(), own - offset, wanted});
  reserve_used_ = static_cast<std::uint32_t>(std::max(reserve_end(), offset + size) - base_);
  return run.first(size);
}

// What the reserve has of `key`, written or not.
void BlockRing::take_over(std::uint64_t key, BlockIndex block) {
  const unsigned shift = arena_->block_shift();
  const std::uint64_t end = std::min((key + 1) << shift, reserve_end());
  for (std::uint64_t at = std::max(key << shift, base_); at < end;) {
    const MutableBytes from = run_of_reserve(at);
    const std::size_t size = std::min<std::uint64_t>(from.size(), end - at);
    std::memcpy(run_of_block(block, at).data(), from.data(), size);
    at += size;
  }
}

// Stores a block for `key`, which has none, and stretches the span of keys to it. An empty ring has
// no span to stretch: it moves to `key`.
BlockIndex BlockRing::add_block(std::uint64_t key) {
  const bool was_empty = keys_ == 0;
  const std::uint64_t new_first = was_empty ? key : std::min(first_, key);
  const std::uint64_t new_end = was_empty ? key + 1 : std::max(end(), key + 1);
  if (new_end - new_first > kMaxKeys) return kNoBlock;
  const BlockIndex block = arena_->allocate();
  if (block == kNoBlock) return kNoBlock;
  if (!ring_ || new_end - new_first > std::uint64_t{mask_} + 1) grow(new_end - new_first);
  if (was_empty) first_ = key;
  for (std::uint64_t k = new_first; k < first_; ++k) ring_[k & mask_] = kNoBlock;
  for (std::uint64_t k = end(); k < new_end; ++k) ring_[k & mask_] = kNoBlock;
  first_ = new_first;
  keys_ = static_cast<std::uint32_t>(new_end - new_first);
  ring_[key & mask_] = block;
  return block;
}

void BlockRing::release_below(std::uint64_t offset) {
  if (offset > base_) move_base(offset);
  const std::uint64_t key = std::min(offset >> arena_->block_shift(), end());
  for (; first_ < key; ++first_, --keys_) {
    const BlockIndex block = ring_[first_ & mask_];
    if (block != kNoBlock) arena_->release(block);
  }
}

void BlockRing::release_within(std::uint64_t begin, std::uint64_t end) {
  const std::uint64_t after = std::min(end >> arena_->block_shift(), this->end());
  std::uint64_t key = (begin + arena_->block_size() - 1) >> arena_->block_shift();
  for (key = std::max(key, first_); key < after; ++key) {
    BlockIndex& entry = ring_[key & mask_];
    if (entry == kNoBlock) continue;
    arena_->release(entry);
    entry = kNoBlock;
  }
}

void BlockRing::clear(std::uint64_t offset) {
  for (; keys_ > 0; ++first_, --keys_) {
    const BlockIndex block = ring_[first_ & mask_];
    if (block != kNoBlock) arena_->release(block);
  }
  first_ = offset >> arena_->block_shift();
  base_ = offset;
  reserve_used_ = 0;
}

std::size_t BlockRing::blocks_held() const {
  std::size_t held = 0;
  for (std::uint64_t key = first_; key < end(); ++key) held += ring_[key & mask_] != kNoBlock;
  return held;
}

bool BlockRing::covers(Range range) const {
  for (std::uint64_t at = range.begin; at < range.end;) {
    const std::uint64_t next = ((at >> arena_->block_shift()) + 1) << arena_->block_shift();
    if (find(at) == kNoBlock && (at < base_ || std::min(range.end, next) > reserve_end())) {
      return false;
    }
    at = next;
  }
  return true;
}

void BlockRing::grow(std::uint64_t keys) {
  constexpr std::uint64_t kMinKeys = 4;
  const std::uint64_t room = std::bit_ceil(std::max(keys, kMinKeys));
  auto larger = std::make_unique_for_overwrite<BlockIndex[]>(room);
  std::fill_n(larger.get(), room, kNoBlock);
  const auto larger_mask = static_cast<std::uint32_t>(room - 1);
  for (std::uint64_t k = first_; k < end(); ++k) larger[k & larger_mask] = ring_[k & mask_];
  ring_ = std::move(larger);
  mask_ = larger_mask;
}

}  // namespace satrelay
