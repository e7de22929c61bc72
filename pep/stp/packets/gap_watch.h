// The gap in the peer's packets that waits to be certain: what is missing may only be late
// (reorder_tolerance.h). One at a time; a report on it speaks of those that follow, too.
#pragma once

#include <cstdint>

#include "pep/stp/packets/reorder_tolerance.h"
#include "pep/stp/wire/varint.h"

namespace satrelay::stp {

class GapWatch {
 public:
  // Packet `number` came, and those right below it have not. Whether the gap is watched from now
  // on: none is yet.
  bool on_gap(std::uint64_t number) {
    if (watches()) return false;
    first_ = number - 1;  // the topmost missing one is the last to become certain
    return true;
  }
  // Packet `number` was recorded, and `next` is one past the highest. Whether as many have come
  // behind the gap as make it certain on a path that keeps order; either way, and if it is filled,
  // it is watched no more.
  bool on_recorded(std::uint64_t number, std::uint64_t next) {
    if (!watches()) return false;
    const bool is_certain = number != first_ && next > first_ + ReorderTolerance::kPackets;
    if (is_certain || number == first_) first_ = kNone;
    return is_certain;
  }
  bool watches() const { return first_ != kNone; }

 private:
  static constexpr std::uint64_t kNone = kMaxVarint;
  std::uint64_t first_ = kNone;
};

}  // namespace satrelay::stp
