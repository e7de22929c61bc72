#include "pep/base/containers/block_ring.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <memory>
#include <new>
#include <utility>

namespace satrelay {

bool BlockRing::own() {
  SATRELAY_CHECK(!has_reserve() && !has_keys());
  reserve_ = arena_->take_reserve();
  return has_reserve();
}

void BlockRing::disown() {
  if (!has_reserve()) return;
  SATRELAY_CHECK(!has_keys() && reserve_used_ == 0);
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

// Copies the bytes of `key` from the reserve into `block`, including bytes that were never written.
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

// Allocates a block for `key`, which has none, and extends the span of keys to include `key`. In an
// empty ring, the span begins at `key`.
BlockIndex BlockRing::add_block(std::uint64_t key) {
  const bool was_empty = !has_keys();
  const std::uint64_t new_first = was_empty ? key : std::min(ring_->first, key);
  const std::uint64_t new_end = was_empty ? key + 1 : std::max(ring_->end(), key + 1);
  if (new_end - new_first > kMaxKeys) return kNoBlock;
  const BlockIndex block = arena_->allocate();
  if (block == kNoBlock) return kNoBlock;
  if (!ring_ || new_end - new_first > std::uint64_t{ring_->mask} + 1) grow(new_end - new_first);
  Ring& ring = *ring_;
  if (was_empty) ring.first = key;
  for (std::uint64_t k = new_first; k < ring.first; ++k) ring.place(k) = kNoBlock;
  for (std::uint64_t k = ring.end(); k < new_end; ++k) ring.place(k) = kNoBlock;
  ring.first = new_first;
  ring.keys = static_cast<std::uint32_t>(new_end - new_first);
  ring.place(key) = block;
  return block;
}

void BlockRing::release_below(std::uint64_t offset) {
  if (offset > base_) move_base(offset);
  if (!ring_) return;
  Ring& ring = *ring_;
  const std::uint64_t key = std::min(offset >> arena_->block_shift(), ring.end());
  for (; ring.first < key; ++ring.first, --ring.keys) {
    const BlockIndex block = ring.place(ring.first);
    if (block != kNoBlock) arena_->release(block);
  }
}

void BlockRing::release_within(std::uint64_t begin, std::uint64_t end) {
  if (!ring_) return;
  const std::uint64_t after = std::min(end >> arena_->block_shift(), ring_->end());
  std::uint64_t key = (begin + arena_->block_size() - 1) >> arena_->block_shift();
  for (key = std::max(key, ring_->first); key < after; ++key) {
    BlockIndex& entry = ring_->place(key);
    if (entry == kNoBlock) continue;
    arena_->release(entry);
    entry = kNoBlock;
  }
}

void BlockRing::clear(std::uint64_t offset) {
  for (; has_keys(); ++ring_->first, --ring_->keys) {
    const BlockIndex block = ring_->place(ring_->first);
    if (block != kNoBlock) arena_->release(block);
  }
  base_ = offset;
  reserve_used_ = 0;
}

std::size_t BlockRing::blocks_held() const {
  if (!ring_) return 0;
  std::size_t held = 0;
  for (std::uint64_t key = ring_->first; key < ring_->end(); ++key) {
    held += ring_->place(key) != kNoBlock;
  }
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
  RingPtr larger = make_ring(room);
  if (ring_) {
    larger->first = ring_->first;
    larger->keys = ring_->keys;
    for (std::uint64_t k = ring_->first; k < ring_->end(); ++k) larger->place(k) = ring_->place(k);
  }
  ring_ = std::move(larger);
}

void BlockRing::image(Image& image) {
  image(base_, reserve_, reserve_used_);
  if (has_reserve()) move_reserve(image);
  if (reserve_used_ > own_end() - base_) {
    reserve_used_ = 0;
    image.fail();
  }
  std::uint64_t first = has_keys() ? ring_->first : 0;
  image(first);
  const std::size_t keys = image.count(has_keys() ? ring_->keys : 0);
  if (image.reads()) {
    ring_.reset();
    if (keys > 0) {
      grow(keys);
      ring_->first = first;
      ring_->keys = static_cast<std::uint32_t>(keys);
    }
  }
  for (std::size_t i = 0; i < keys; ++i) move_block(ring_->place(first + i), image);
  if (image.reads()) return;
  ring_.reset();
  base_ = 0;
  reserve_ = kNoReserve;
  reserve_used_ = 0;
}

// Writing an image moves the block of one key from the ring to the image. Reading an image moves it
// from the image to the ring.
void BlockRing::move_block(BlockIndex& block, Image& image) {
  image(block);
  if (block == kNoBlock) return;
  if (!image.reads()) return arena_->images().give(block);
  if (!image.failed() && arena_->images().take(block)) return;
  block = kNoBlock;
  image.fail();
}

void BlockRing::move_reserve(Image& image) {
  if (!image.reads()) return arena_->images().give_reserve(reserve_);
  if (!image.failed() && arena_->images().take_reserve(reserve_)) return;
  reserve_ = kNoReserve;
  image.fail();
}

BlockRing::RingPtr BlockRing::make_ring(std::uint64_t places) {
  void* memory = ::operator new(sizeof(Ring) + places * sizeof(BlockIndex));
  RingPtr ring(new (memory) Ring);
  ring->mask = static_cast<std::uint32_t>(places - 1);
  std::uninitialized_fill_n(&ring->place(0), places, kNoBlock);
  return ring;
}

}  // namespace satrelay
