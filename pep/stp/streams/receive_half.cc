#include "pep/stp/streams/receive_half.h"

#include <algorithm>

namespace satrelay::stp {

ReceiveHalf::Stored ReceiveHalf::store(std::uint64_t offset, ConstBytes bytes,
                                       std::size_t reserve_blocks) {
  const std::uint64_t end = offset + bytes.size();
  if (offset > bytes_.in_order_end() && end > bytes_.own_end() &&
      bytes_.arena().free_blocks() <= reserve_blocks) {
    return {0, holds(offset, end)};
  }
  const std::uint64_t limit = granted_ - bytes_.consumed();
  if (!bytes_.has_place(offset, end, limit)) return {.scattered = true};
  const std::size_t stored = bytes_.insert(offset, bytes, limit);
  return {stored, stored == bytes.size() || holds(offset, end)};
}

bool ReceiveHalf::holds(std::uint64_t begin, std::uint64_t end) const {
  if (end <= bytes_.in_order_end()) return true;
  begin = std::max(begin, bytes_.in_order_end());
  const RangeSet& later = bytes_.out_of_order();
  const std::size_t i = later.first_ending_after(begin);
  return i < later.range_count() && later.ranges()[i].begin <= begin &&
         later.ranges()[i].end >= end;
}

void ReceiveHalf::reset() {
  bytes_.reset();
  charged_ = granted_ = told_ = told_at_ = 0;
  final_size_ = kUnknown;
  pace_.reset();
}

}  // namespace satrelay::stp
