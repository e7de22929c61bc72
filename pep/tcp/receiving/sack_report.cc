#include "pep/tcp/receiving/sack_report.h"

#include <algorithm>

namespace satrelay::tcp {

void SackReport::on_stored(std::uint64_t position) {
  auto& [recent, count, duplicate] = memory();
  if (count < kRemembered) ++count;
  std::copy_backward(recent.begin(), recent.begin() + static_cast<std::ptrdiff_t>(count - 1),
                     recent.begin() + static_cast<std::ptrdiff_t>(count));
  recent[0] = position;
}

std::size_t SackReport::write(const RangeSet& held, std::span<Range> out) {
  if (!memory_) return 0;
  auto& [recent, count, duplicate] = *memory_;
  std::size_t written = 0;
  if (duplicate && !out.empty()) out[written++] = *duplicate;
  const std::size_t first_block = written;
  duplicate.reset();
  std::size_t kept = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t index = held.first_ending_after(recent[i]);
    if (index == held.range_count()) continue;
    const Range range = held.ranges()[index];
    if (range.begin > recent[i]) continue;  // this piece is in order by now
    const auto begin = out.begin() + static_cast<std::ptrdiff_t>(first_block);
    const auto end = out.begin() + static_cast<std::ptrdiff_t>(written);
    if (std::find(begin, end, range) != end) continue;  // merged with a piece that arrived later
    recent[kept++] = recent[i];
    if (written < out.size()) out[written++] = range;
  }
  count = kept;
  return written;
}

}  // namespace satrelay::tcp
