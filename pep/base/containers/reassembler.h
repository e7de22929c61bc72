// Restores the order of a stream from pieces that arrive in any order, overlapping or twice. It
// stores at most `limit` bytes beyond the consumed bytes. The number of separate pieces beyond a
// gap is limited in proportion to `limit`. If pieces overlap, the bytes stored first are kept.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "pep/base/bytes.h"
#include "pep/base/containers/block_ring.h"
#include "pep/base/containers/range_set.h"

namespace satrelay {

class Reassembler {
 public:
  // One more separate piece is allowed for each `bytes_a_piece` bytes of insert()'s `limit`.
  Reassembler(Arena& arena, std::uint32_t bytes_a_piece)
      : blocks_(arena), bytes_a_piece_(bytes_a_piece) {}

  // Stores the bytes of [offset, offset + bytes.size()) that are new and below consumed() + limit.
  // Returns how many bytes were stored. If the arena is full, or has_place() allows no further
  // piece, only a prefix is stored and the rest counts as lost.
  [[nodiscard]] std::size_t insert(std::uint64_t offset, ConstBytes bytes, std::uint64_t limit);

  // Whether the bytes of [begin, end) may be stored; the range must not be empty. Bytes that are in
  // order, or that touch a stored piece, may always be stored. Other bytes form a new piece, and
  // the number of pieces is limited in proportion to `limit`. This bounds the memory for
  // bookkeeping, and the time of an insertion, in any order of arrival. Refused bytes count as
  // lost.
  bool has_place(std::uint64_t begin, std::uint64_t end, std::uint64_t limit) const {
    return begin <= in_order_ ||
           out_of_order_.range_count() < kFewestPieces + limit / bytes_a_piece_ ||
           out_of_order_.touches(begin, end);
  }
  static constexpr std::size_t kFewestPieces = 128;

  // own() and disown() work as in BlockRing. The reassembler must be empty.
  [[nodiscard]] bool own() { return blocks_.own(); }
  void disown() { blocks_.disown(); }
  bool has_reserve() const { return blocks_.has_reserve(); }
  // Bytes below this offset can always be stored, however short memory is.
  std::uint64_t own_end() const { return blocks_.own_end(); }
  // Number of further in-order bytes that can be stored if the arena gives the reassembler `blocks`
  // more blocks.
  std::uint64_t room(std::uint64_t blocks) const {
    return blocks_.room_end(in_order_, blocks) - in_order_;
  }

  std::uint64_t consumed() const { return blocks_.base(); }  // bytes below were consumed
  std::uint64_t in_order_end() const { return in_order_; }   // first byte not yet received in order
  std::uint64_t readable() const { return in_order_ - consumed(); }
  std::uint64_t highest() const;  // one past the highest byte stored
  std::uint64_t stored() const { return readable() + out_of_order_.total(); }
  // Received ranges above in_order_end(), ascending.
  const RangeSet& out_of_order() const { return out_of_order_; }

  // The longest contiguous run of readable bytes after the first `skip` ones; empty if no more
  // bytes are readable.
  ConstBytes front(std::uint64_t skip = 0) const;
  // Fills `out` with the contiguous runs of the first readable bytes, in order, with at most `most`
  // bytes in total. Returns the number of runs.
  std::size_t front(std::uint64_t most, std::span<ConstBytes> out) const;
  // Copies out.size() readable bytes after the first `skip` ones, without consuming them.
  // out.size() + skip must not exceed readable().
  void copy_front(MutableBytes out, std::uint64_t skip = 0) const;
  void consume(std::uint64_t count);  // at most readable()
  // Drops all bytes and restarts at offset zero.
  void reset();

  // Frees memory that is needed only while bytes are stored.
  void trim() {
    blocks_.trim();
    out_of_order_.trim();
  }
  // Moves the blocks to or from the image, as in BlockRing. The image does not contain
  // `bytes_a_piece`.
  void image(Image& image) {
    image(blocks_, out_of_order_, in_order_);
    if (image.reads() && !is_stored()) image.fail();
  }
  const Arena& arena() const { return blocks_.arena(); }

  // These functions are for consistency checks, and take O(stored()) time. blocks_held() counts the
  // blocks one by one. is_stored() tells whether every byte that counts as stored lies in a block
  // or in the reserve, and whether every out-of-order piece begins above in_order_end().
  std::size_t blocks_held() const { return blocks_.blocks_held(); }
  bool is_stored() const;

 private:
  struct Place {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    std::uint64_t limit = 0;
  };
  std::size_t insert_gaps(Place place, std::uint64_t base, ConstBytes bytes);
  void join_in_order();
  std::size_t store(std::uint64_t offset, ConstBytes bytes);
  ConstBytes run_at(std::uint64_t offset) const;
  BlockRing blocks_;
  RangeSet out_of_order_;
  std::uint64_t in_order_ = 0;
  std::uint32_t bytes_a_piece_;
};

}  // namespace satrelay
