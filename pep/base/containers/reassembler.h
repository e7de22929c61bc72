// Restores the order of a stream from pieces that arrive in any order, overlapping or twice. Stores
// at most `limit` bytes beyond the consumed ones. Beyond a gap, it keeps only as many separate
// pieces as are in proportion to `limit`. The first byte stored at an offset wins.
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
  // One more piece is kept for each `bytes_a_piece` of the limit.
  Reassembler(Arena& arena, std::uint32_t bytes_a_piece)
      : blocks_(arena), bytes_a_piece_(bytes_a_piece) {}

  // Stores the new part of [offset, offset + bytes.size()), within
  // [consumed(), consumed() + limit), as far as the arena has room and there is a place for it.
  // Returns how many new bytes were stored. If room or places run out, a prefix is stored and the
  // rest counts as lost.
  [[nodiscard]] std::size_t insert(std::uint64_t offset, ConstBytes bytes, std::uint64_t limit);

  // Whether bytes at [begin, end), not empty, may be kept. Bytes in order and bytes next to a piece
  // always may. Others may only while there are not too many pieces. So the bookkeeping is in
  // proportion to the memory that the limit stands for, and so is the time of an insertion,
  // whatever order bytes come in. Refused bytes count as lost.
  bool has_place(std::uint64_t begin, std::uint64_t end, std::uint64_t limit) const {
    return begin <= in_order_ ||
           out_of_order_.range_count() < kFewestPieces + limit / bytes_a_piece_ ||
           out_of_order_.touches(begin, end);
  }
  static constexpr std::size_t kFewestPieces = 128;

  // As in BlockRing, for an empty reassembler.
  [[nodiscard]] bool own() { return blocks_.own(); }
  void disown() { blocks_.disown(); }
  bool has_reserve() const { return blocks_.has_reserve(); }
  // Bytes below this offset are stored however short memory is.
  std::uint64_t own_end() const { return blocks_.own_end(); }
  // Bytes that can be stored in order, at least, if `blocks` blocks may be taken from the arena.
  std::uint64_t room(std::uint64_t blocks) const {
    return blocks_.room_end(in_order_, blocks) - in_order_;
  }

  std::uint64_t consumed() const { return blocks_.base(); }  // everything below was consumed
  std::uint64_t in_order_end() const { return in_order_; }   // first byte not yet received in order
  std::uint64_t readable() const { return in_order_ - consumed(); }
  std::uint64_t highest() const;  // one past the highest byte stored
  std::uint64_t stored() const { return readable() + out_of_order_.total(); }
  // Received ranges above in_order_end(), ascending.
  const RangeSet& out_of_order() const { return out_of_order_; }

  // The longest contiguous readable run behind the first `skip` readable bytes; empty if there are
  // no more.
  ConstBytes front(std::uint64_t skip = 0) const;
  // The consecutive runs from the first readable byte on: as many as `out` has room for, and `most`
  // bytes at most. Returns how many runs.
  std::size_t front(std::uint64_t most, std::span<ConstBytes> out) const;
  // Copies the out.size() readable bytes behind the first `skip` (together at most readable())
  // without consuming them.
  void copy_front(MutableBytes out, std::uint64_t skip = 0) const;
  void consume(std::uint64_t count);  // at most readable()
  // Drops all bytes and restarts at offset zero.
  void reset();

  // Frees memory that is needed only while bytes are stored.
  void trim() {
    blocks_.trim();
    out_of_order_.trim();
  }
  // Takes the blocks, as in BlockRing. `bytes_a_piece` is no part of it.
  void image(Image& image) { image(blocks_, out_of_order_, in_order_); }
  const Arena& arena() const { return blocks_.arena(); }

  // To check the accounts, O(stored()): the blocks of the arena, counted one by one; and whether
  // every byte that counts as stored lies in a block or in the reserve.
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
