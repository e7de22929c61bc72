#include "pep/base/byte_queue.h"

#include <algorithm>
#include <cstring>

#include "pep/base/check.h"

namespace satrelay {

std::uint64_t ByteQueue::room(std::uint64_t blocks) const {
  const std::uint64_t block = blocks_.arena().block_size();
  // Where the blocks that are taken end: an empty queue has none, not even the one it ended in.
  const std::uint64_t taken = empty() ? end_ & ~(block - 1) : (end_ + block - 1) & ~(block - 1);
  const std::uint64_t room_end = std::max(taken, blocks_.own_end()) + blocks * block;
  return room_end > end_ ? room_end - end_ : 0;
}

std::size_t ByteQueue::append(ConstBytes bytes) {
  Arena& arena = blocks_.arena();
  const std::size_t mask = arena.block_size() - 1;
  std::size_t done = 0;
  while (done < bytes.size()) {
    const BlockIndex block = blocks_.find_or_allocate(end_);
    if (block == kNoBlock) break;
    const std::size_t within = end_ & mask;
    const std::size_t n = std::min(bytes.size() - done, arena.block_size() - within);
    std::memcpy(arena.data(block) + within, bytes.data() + done, n);
    done += n;
    end_ += n;
  }
  return done;
}

void ByteQueue::copy_out(std::uint64_t offset, MutableBytes out) const {
  SATRELAY_CHECK(offset >= begin_ && offset <= end_ && out.size() <= end_ - offset);
  std::size_t done = 0;
  while (done < out.size()) {
    const ConstBytes run = contiguous(offset + done);
    const std::size_t n = std::min(out.size() - done, run.size());
    std::memcpy(out.data() + done, run.data(), n);
    done += n;
  }
}

ConstBytes ByteQueue::contiguous(std::uint64_t offset) const {
  SATRELAY_CHECK(offset >= begin_ && offset <= end_);
  if (offset == end_) return {};
  const Arena& arena = blocks_.arena();
  const std::size_t within = offset & (arena.block_size() - 1);
  const std::size_t n = std::min<std::uint64_t>(arena.block_size() - within, end_ - offset);
  const BlockIndex block = blocks_.find(offset);
  SATRELAY_CHECK(block != kNoBlock);
  return {arena.data(block) + within, n};
}

void ByteQueue::release_below(std::uint64_t offset) {
  SATRELAY_CHECK(offset <= end_);
  if (offset <= begin_) return;
  begin_ = offset;
  if (empty()) {
    blocks_.clear(end_);  // an idle queue holds no memory, not even its last partial block
  } else {
    blocks_.release_below(offset);
  }
}

void ByteQueue::forget(Range range) {
  SATRELAY_CHECK(range.begin >= begin_ && range.end <= end_);
  blocks_.release_within(range.begin, range.end);
}

void ByteQueue::reset() {
  blocks_.clear(0);
  begin_ = 0;
  end_ = 0;
}

}  // namespace satrelay
