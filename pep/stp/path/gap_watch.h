// Watches a gap in the peer's packets until it counts as a loss. Until then, the missing packets
// may only be late (reorder_tolerance.h). Only one gap is watched at a time, since a report about
// this gap also covers later gaps.
#pragma once

#include <cstdint>

#include "pep/stp/path/reorder_tolerance.h"
#include "pep/stp/wire/varint.h"

namespace satrelay::stp {

class GapWatch {
 public:
  // Packet `number` has arrived, but not the packet before it. Returns true if this gap is watched
  // from now on. Returns false if another gap is already watched.
  bool on_gap(std::uint64_t number) {
    if (watches()) return false;
    first_ = number - 1;  // the last packet of the gap; it counts as lost after the others
    return true;
  }
  // Packet `number` was recorded, and `next` is one past the highest number. Returns true if enough
  // packets have arrived after the gap to count it as a loss on a path that keeps the order. The
  // watch then ends. It also ends if the gap is filled.
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
