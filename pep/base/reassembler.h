// Restores the order of a stream whose pieces arrive in any order, overlapping or twice. Stores at
// most `limit` bytes beyond what has been consumed; the first byte stored at an offset wins.
#pragma once

#include <cstddef>
#include <cstdint>

#include "pep/base/block_ring.h"
#include "pep/base/bytes.h"
#include "pep/base/range_set.h"

namespace satrelay {

class Reassembler {
 public:
  explicit Reassembler(Arena& arena) : blocks_(arena) {}

  // Stores the part of [offset, offset + bytes.size()) that is new, within
  // [consumed(), consumed() + limit) and for which the arena has room. Returns how many new bytes
  // were stored. After an arena shortage a stored prefix is kept and the rest is as if lost.
  std::size_t insert(std::uint64_t offset, ConstBytes bytes, std::uint64_t limit);

  std::uint64_t consumed() const { return consumed_; }      // everything below was consumed
  std::uint64_t in_order_end() const { return in_order_; }  // first byte not yet received in order
  std::uint64_t readable() const { return in_order_ - consumed_; }
  std::uint64_t highest() const;  // one past the highest byte stored
  std::uint64_t stored() const { return readable() + out_of_order_.total(); }
  // Received ranges above in_order_end(), ascending.
  const RangeSet& out_of_order() const { return out_of_order_; }

  // The longest contiguous readable run; empty if nothing is readable.
  ConstBytes front() const;
  // Copies the first out.size() readable bytes (at most readable()) without consuming them.
  void copy_front(MutableBytes out) const;
  void consume(std::uint64_t count);  // at most readable()
  // Drops all bytes and restarts at offset zero.
  void reset();

 private:
  std::size_t insert_gaps(std::uint64_t position, std::uint64_t end, std::uint64_t base,
                          ConstBytes bytes);
  void join_in_order();
  std::size_t store(std::uint64_t offset, ConstBytes bytes);
  ConstBytes run_at(std::uint64_t offset) const;
  BlockRing blocks_;
  RangeSet out_of_order_;
  std::uint64_t consumed_ = 0;
  std::uint64_t in_order_ = 0;
};

}  // namespace satrelay
