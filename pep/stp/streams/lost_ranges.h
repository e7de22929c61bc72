// The bytes of a stream that must be retransmitted, in one set for each number of losses.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>

#include "pep/base/check.h"
#include "pep/base/containers/range_set.h"

namespace satrelay::stp {

class LostRanges {
 public:
  // Number of sets. The last set also contains bytes that were lost more than kMaxLosses times.
  static constexpr unsigned kMaxLosses = 4;
  struct Piece {
    Range range;
    unsigned losses = 0;
  };

  bool empty() const {
    return !by_losses_ || std::all_of(by_losses_->begin(), by_losses_->end(),
                                      [](const RangeSet& set) { return set.empty(); });
  }
  // The first range among the bytes that were lost most often, since these bytes delay the reader
  // most. The object must not be empty.
  Piece first() const {
    SATRELAY_CHECK(by_losses_ != nullptr);
    const Sets& sets = *by_losses_;
    unsigned losses = kMaxLosses;
    while (losses > 1 && sets[losses - 1].empty()) --losses;
    SATRELAY_CHECK(!sets[losses - 1].empty());
    return {sets[losses - 1].ranges().front(), losses};
  }
  // Adds [begin, end), which must not be empty, as lost for the `losses`th time. `losses` is 1 to
  // kMaxLosses.
  void insert(std::uint64_t begin, std::uint64_t end, unsigned losses) {
    if (!by_losses_) by_losses_ = std::make_unique<Sets>();
    (*by_losses_)[losses - 1].insert(begin, end);
  }
  void erase(std::uint64_t begin, std::uint64_t end) {
    if (!by_losses_) return;
    for (RangeSet& set : *by_losses_) {
      if (!set.empty()) set.erase(begin, end);
    }
  }
  // Whether all bytes to retransmit are in `whole`, and none of them is in `arrived`.
  bool lie_in(Range whole, const RangeSet& arrived) const {
    return !by_losses_ || std::ranges::all_of(*by_losses_, [&](const RangeSet& set) {
      return std::ranges::all_of(set.ranges(), [&](const Range& range) {
        return range.begin >= whole.begin && range.end <= whole.end &&
               arrived.overlap(range.begin, range.end).total == 0;
      });
    });
  }
  // Number of ranges that were moved in memory when the sets changed (RangeSet::moved()).
  std::uint64_t moved() const {
    std::uint64_t moved = 0;
    if (!by_losses_) return 0;
    for (const RangeSet& set : *by_losses_) moved += set.moved();
    return moved;
  }
  // If no bytes must be retransmitted, frees the memory and resets moved().
  void trim() {
    if (empty()) by_losses_.reset();
  }
  void clear() {
    if (!by_losses_) return;
    for (RangeSet& set : *by_losses_) set.clear();
  }

  void image(Image& image) { image(by_losses_); }

 private:
  using Sets = std::array<RangeSet, kMaxLosses>;
  // A set for each number of losses; allocated for the first loss.
  std::unique_ptr<Sets> by_losses_;
};

}  // namespace satrelay::stp
