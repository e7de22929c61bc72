// The bytes of a stream that must be sent again, kept apart by how often they were lost.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "pep/base/check.h"
#include "pep/base/range_set.h"

namespace satrelay::stp {

class LostRanges {
 public:
  static constexpr unsigned kMaxLosses = 4;  // counted as such: so often or more
  struct Piece {
    Range range;
    unsigned losses = 0;
  };

  bool empty() const {
    return std::all_of(by_losses_.begin(), by_losses_.end(),
                       [](const RangeSet& set) { return set.empty(); });
  }
  // The first of those that were lost most often: they hold back the others. There is one.
  Piece first() const {
    unsigned losses = kMaxLosses;
    while (losses > 1 && by_losses_[losses - 1].empty()) --losses;
    SATRELAY_CHECK(!by_losses_[losses - 1].empty());
    return {by_losses_[losses - 1].ranges().front(), losses};
  }
  // [begin, end), not empty, was lost for the `losses`th time, 1 to kMaxLosses.
  void insert(std::uint64_t begin, std::uint64_t end, unsigned losses) {
    by_losses_[losses - 1].insert(begin, end);
  }
  void erase(std::uint64_t begin, std::uint64_t end) {
    for (RangeSet& set : by_losses_) {
      if (!set.empty()) set.erase(begin, end);
    }
  }
  // What edits of the sets have cost (RangeSet).
  std::uint64_t moved() const {
    std::uint64_t moved = 0;
    for (const RangeSet& set : by_losses_) moved += set.moved();
    return moved;
  }
  void trim() {
    for (RangeSet& set : by_losses_) set.trim();
  }
  void clear() {
    for (RangeSet& set : by_losses_) set.clear();
  }

 private:
  std::array<RangeSet, kMaxLosses> by_losses_;
};

}  // namespace satrelay::stp
