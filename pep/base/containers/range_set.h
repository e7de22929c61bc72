// A set of 64-bit integers kept as sorted, disjoint, non-adjacent half-open ranges. Insertion and
// removal move the shorter side of the list, so edits near either end (new gaps at the top, repairs
// at the bottom) are cheap. A set allocates only if its store has less than about twice the slots
// that its ranges need.
//
// A gateway has very many sets, and most of them are empty. So a set is only a pointer until its
// first range is inserted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <span>

#include "pep/base/image/image.h"

namespace satrelay {

struct Range {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;  // exclusive

  void image(Image& image) { image(begin, end); }

  std::uint64_t size() const { return end - begin; }
  friend bool operator==(const Range&, const Range&) = default;
};

class RangeSet {
 public:
  // Adds [begin, end). Returns how many integers were new.
  std::uint64_t insert(std::uint64_t begin, std::uint64_t end);
  // Removes [begin, end). Returns how many integers were present.
  std::uint64_t erase(std::uint64_t begin, std::uint64_t end);
  std::uint64_t erase_below(std::uint64_t end) { return erase(0, end); }
  void clear();

  bool empty() const { return range_count() == 0; }
  std::size_t range_count() const { return store_ ? store_->tail - store_->head : 0; }
  std::uint64_t total() const { return store_ ? store_->total : 0; }  // integers in the set
  bool contains(std::uint64_t value) const;
  // Whether inserting [begin, end), which is not empty, would enlarge an existing range instead of
  // adding a new one.
  bool touches(std::uint64_t begin, std::uint64_t end) const;
  struct Overlap {
    Range first;              // the lowest piece, empty if there is none
    std::uint64_t total = 0;  // integers in all pieces
  };
  // The pieces of [begin, end) that are in the set.
  Overlap overlap(std::uint64_t begin, std::uint64_t end) const;
  // Counts how often an insertion or a removal has moved a range in memory, as a measure of the
  // cost. trim() of an empty set resets the count.
  std::uint64_t moved() const { return store_ ? store_->moved : 0; }
  // The ranges in ascending order; invalidated by any mutation.
  std::span<const Range> ranges() const {
    if (!store_) return {};
    return {store_->slots() + store_->head, store_->tail - store_->head};
  }
  // Index into ranges() of the first range with end > value; range_count() if there is none.
  std::size_t first_ending_after(std::uint64_t value) const;
  // Frees the memory of an empty set. This also resets moved().
  void trim() {
    if (empty()) store_.reset();
  }
  // The image includes the position of the ranges in the store, because the cost of later
  // insertions and removals depends on that position.
  void image(Image& image);

 private:
  // Header of the store. `room` slots follow it in the same allocation.
  struct Store {
    std::size_t head = 0;  // slots [head, tail) hold the ranges, the others are free
    std::size_t tail = 0;
    std::size_t room = 0;
    std::uint64_t total = 0;
    std::uint64_t moved = 0;

    Range* slots() { return reinterpret_cast<Range*>(this + 1); }
    const Range* slots() const { return reinterpret_cast<const Range*>(this + 1); }
  };
  static_assert(alignof(Store) == alignof(Range) && sizeof(Store) % alignof(Range) == 0);
  struct Free {
    void operator()(Store* store) const { ::operator delete(store); }
  };
  using StorePtr = std::unique_ptr<Store, Free>;
  static StorePtr make_store(std::size_t room);

  // There must be a store.
  Range* at(std::size_t index) { return store_->slots() + store_->head + index; }
  // Opens a hole for `range` before the range at `index`, which may be range_count().
  void insert_at(std::size_t index, Range range);
  void erase_at(std::size_t index, std::size_t count);
  // Moves the ranges so that slots before and after them are free. Allocates a larger store if
  // needed. Puts 1 / `free_share_in_front` of the free slots before the ranges.
  void make_room(std::size_t free_share_in_front);
  StorePtr store_;  // allocated with the first range
};

}  // namespace satrelay
