// Divides a number of places among several holders. Half of the places are divided into equal
// parts, one for each holder. If a holder holds less than its part, the missing places are kept
// free for that holder. Any holder may take the other half, first come, first served. So a greedy
// holder cannot take the parts of the other holders. Taking or giving back a place costs O(1).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "pep/base/typed_id.h"

namespace satrelay {

// Returns how many places one holder may take if `free` places are free. `kept` places are kept for
// all holders together, and `own` of the kept places are for this holder.
constexpr std::uint64_t available_to_one(std::uint64_t free, std::uint64_t kept,
                                         std::uint64_t own) {
  const std::uint64_t others = kept > own ? kept - own : 0;
  return std::max(free > others ? free - others : 0, std::min(free, own));
}

// `Holder` is the TypedId that identifies a holder.
template <typename Holder>
class EqualParts {
 public:
  // `least` is the minimum size of a part. If there are so many holders that parts of this size add
  // up to more than half of the places, only the first holders that take places are sure of a whole
  // part.
  EqualParts(std::uint64_t places, std::size_t holders, std::uint64_t least = 1)
      : least_(least), held_(holders) {
    resize(places);
  }

  // Changes the number of places. Holders keep the places that they hold.
  void resize(std::uint64_t places) {
    places_ = places;
    part_ = std::max(least_, places / 2 / std::max<std::size_t>(held_.size(), 1));
    kept_ = 0;
    for (const std::uint64_t held : held_) kept_ += part_ - std::min(part_, held);
  }
  void take(Holder holder) {
    kept_ -= held_[holder]++ < part_ ? 1 : 0;
    ++taken_;
  }
  void give_back(Holder holder) {
    kept_ += --held_[holder] < part_ ? 1 : 0;
    --taken_;
  }

  std::uint64_t places() const { return places_; }
  std::uint64_t part() const { return part_; }
  std::uint64_t free() const { return places_ - std::min(places_, taken_); }
  std::uint64_t taken() const { return taken_; }
  std::uint64_t held(Holder holder) const { return held_[holder]; }
  bool is_below_part(Holder holder) const { return held_[holder] < part_; }
  // Number of places that the holder may take now.
  std::uint64_t available(Holder holder) const {
    const std::uint64_t own = part_ - std::min(part_, held_[holder]);
    return available_to_one(free(), own + std::min(kept_ - own, places_ / 2), own);
  }

 private:
  std::uint64_t least_;
  std::uint64_t places_ = 0;
  std::uint64_t part_ = 0;
  std::uint64_t kept_ = 0;  // sum of the places that holders need to reach their parts
  std::uint64_t taken_ = 0;
  IdVector<Holder, std::uint64_t> held_;
};

}  // namespace satrelay
