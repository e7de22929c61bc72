// The bytes of a stream that must be sent again, in one set for each count of losses.
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
  static constexpr unsigned kMaxLosses = 4;  // also counts bytes that were lost more often
  struct Piece {
    Range range;
    unsigned losses = 0;
  };

  bool empty() const {
    return !by_losses_ || std::all_of(by_losses_->begin(), by_losses_->end(),
                                      [](const RangeSet& set) { return set.empty(); });
  }
  // The first of the bytes that were lost most often, since they hold back the others. Requires
  // one.
  Piece first() const {
    SATRELAY_CHECK(by_losses_ != nullptr);
    const Sets& sets = *by_losses_;
    unsigned losses = kMaxLosses;
    while (losses > 1 && sets[losses - 1].empty()) --losses;
    SATRELAY_CHECK(!sets[losses - 1].empty());
    return {sets[losses - 1].ranges().front(), losses};
  }
  // [begin, end), not empty, was lost for the `losses`th time, 1 to kMaxLosses.
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
  // The cost of the edits of the sets (RangeSet).
  std::uint64_t moved() const {
    std::uint64_t moved = 0;
    if (!by_losses_) return 0;
    for (const RangeSet& set : *by_losses_) moved += set.moved();
    return moved;
  }
  // Frees the memory if no bytes are lost any more, and forgets the cost of edits.
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
  std::unique_ptr<Sets> by_losses_;  // allocated with the first loss
};

}  // namespace satrelay::stp
