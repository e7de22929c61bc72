// Restores the order of a stream whose pieces arrive in any order, overlapping or twice. Stores at
// most `limit` bytes beyond what has been consumed, and of those beyond a gap no more separate
// pieces than are in proportion to it; the first byte stored at an offset wins.
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
  // A piece more is kept for each `bytes_a_piece` of the limit.
  Reassembler(Arena& arena, std::uint32_t bytes_a_piece)
      : blocks_(arena), bytes_a_piece_(bytes_a_piece) {}

  // Stores the part of [offset, offset + bytes.size()) that is new, within
  // [consumed(), consumed() + limit), for which the arena has room and there is a place. Returns
  // how many new bytes were stored. After a shortage of either a stored prefix is kept and the rest
  // is as if lost.
  [[nodiscard]] std::size_t insert(std::uint64_t offset, ConstBytes bytes, std::uint64_t limit);

  // Whether bytes at [begin, end), not empty, may be kept: those in order and those next to a piece
  // always may, others only while there are not too many pieces. So the bookkeeping is in
  // proportion to the memory that the limit stands for, and each insertion takes its share of time,
  // whatever order bytes come in. What is refused is as if lost.
  bool has_place(std::uint64_t begin, std::uint64_t end, std::uint64_t limit) const {
    return begin <= in_order_ ||
           out_of_order_.range_count() < kFewestPieces + limit / bytes_a_piece_ ||
           out_of_order_.touches(begin, end);
  }
  static constexpr std::size_t kFewestPieces = 128;

  // As BlockRing's, of an empty reassembler.
  [[nodiscard]] bool own() { return blocks_.own(); }
  void disown() { blocks_.disown(); }
  bool has_reserve() const { return blocks_.has_reserve(); }
  // What arrives below is stored, however short memory is.
  std::uint64_t own_end() const { return blocks_.own_end(); }
  // What is stored if it follows in order, at least, when `blocks` may be taken from the arena.
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
  // The runs that follow each other from the first readable byte on, as many as `out` has room for
  // and no more than make `most` bytes: how many runs.
  std::size_t front(std::uint64_t most, std::span<ConstBytes> out) const;
  // Copies the out.size() readable bytes behind the first `skip` (together at most readable())
  // without consuming them.
  void copy_front(MutableBytes out, std::uint64_t skip = 0) const;
  void consume(std::uint64_t count);  // at most readable()
  // Drops all bytes and restarts at offset zero.
  void reset();

  // Gives back what it needs only while bytes are stored.
  void trim() {
    blocks_.trim();
    out_of_order_.trim();
  }
  const Arena& arena() const { return blocks_.arena(); }

  // To check the accounts, O(stored()): blocks of the arena, counted; and whether every byte that
  // counts as stored lies in one.
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
