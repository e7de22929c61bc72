#include "pep/tcp/sack_report.h"

#include <algorithm>

namespace satrelay::tcp {

void SackReport::on_stored(std::uint64_t position) {
  if (count_ < kRemembered) ++count_;
  std::copy_backward(recent_.begin(), recent_.begin() + static_cast<std::ptrdiff_t>(count_ - 1),
                     recent_.begin() + static_cast<std::ptrdiff_t>(count_));
  recent_[0] = position;
}

std::size_t SackReport::write(const RangeSet& held, std::span<Range> out) {
  std::size_t written = 0;
  if (duplicate_ && !out.empty()) out[written++] = *duplicate_;
  const std::size_t first_block = written;
  duplicate_.reset();
  std::size_t kept = 0;
  for (std::size_t i = 0; i < count_; ++i) {
    const std::size_t index = held.first_ending_after(recent_[i]);
    if (index == held.range_count()) continue;
    const Range range = held.ranges()[index];
    if (range.begin > recent_[i]) continue;  // delivered meanwhile
    const auto begin = out.begin() + static_cast<std::ptrdiff_t>(first_block);
    const auto end = out.begin() + static_cast<std::ptrdiff_t>(written);
    if (std::find(begin, end, range) != end) continue;  // merged with a more recent one
    recent_[kept++] = recent_[i];
    if (written < out.size()) out[written++] = range;
  }
  count_ = kept;
  return written;
}

}  // namespace satrelay::tcp
