// Bytes that a writer appends and that a reader may read more than once: the send buffer of a TCP
// endpoint or an STP stream. Offsets are absolute, count from the stream's first byte and never
// wrap.
#pragma once

#include <cstddef>
#include <cstdint>

#include "pep/base/bytes.h"
#include "pep/base/containers/block_ring.h"
#include "pep/base/containers/range_set.h"

namespace satrelay {

class ByteQueue {
 public:
  explicit ByteQueue(Arena& arena) : blocks_(arena) {}

  std::uint64_t begin() const { return blocks_.base(); }  // offset of the oldest byte
  std::uint64_t end() const { return end_; }              // offset of the next appended byte
  std::uint64_t size() const { return end_ - begin(); }
  bool empty() const { return begin() == end_; }

  // own() and disown() work as in BlockRing. The queue must be empty.
  [[nodiscard]] bool own() { return blocks_.own(); }
  void disown() { blocks_.disown(); }
  bool has_reserve() const { return blocks_.has_reserve(); }

  // Number of bytes that append() can store if the arena gives the queue at most `blocks` more
  // blocks. The number is exact if the arena has exactly `blocks` free blocks.
  std::uint64_t room(std::uint64_t blocks) const { return blocks_.room_end(end_, blocks) - end_; }
  // Copies as many of `bytes` as the arena has room for. Returns how many it copied.
  [[nodiscard]] std::size_t append(ConstBytes bytes);
  // Copies the bytes [offset, offset + out.size()), which must lie within [begin, end) and contain
  // no byte that forget() freed.
  void copy_out(std::uint64_t offset, MutableBytes out) const;
  // The longest contiguous run that starts at `offset`; empty at end().
  ConstBytes contiguous(std::uint64_t offset) const;
  // Releases all bytes below `offset` (at most end()).
  void release_below(std::uint64_t offset);
  // Frees the blocks that lie wholly within `range`, which must lie within [begin, end). Their
  // bytes can no longer be read, but size() still counts them.
  void forget(Range range);
  // Drops all bytes and restarts at offset zero.
  void reset();
  void trim() { blocks_.trim(); }  // as in BlockRing
  // Moves the blocks to or from the image, as in BlockRing.
  void image(Image& image) {
    image(blocks_, end_);
    if (end_ < begin()) image.fail();
  }
  // Whether each byte of `range` lies in a block or in the reserve. O(range).
  bool covers(Range range) const { return blocks_.covers(range); }
  const Arena& arena() const { return blocks_.arena(); }
  // Counts the blocks one by one: O(size()).
  std::size_t blocks_held() const { return blocks_.blocks_held(); }

 private:
  BlockRing blocks_;
  std::uint64_t end_ = 0;
};

}  // namespace satrelay
