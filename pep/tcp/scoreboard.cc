#include "pep/tcp/scoreboard.h"

#include <algorithm>

#include "pep/base/check.h"

namespace satrelay::tcp {

std::uint64_t Scoreboard::acknowledge(std::uint64_t ack) {
  SATRELAY_DCHECK(ack > una_ && ack <= next_);
  std::uint64_t fresh = ack - una_;
  if (!sacked_.empty()) fresh -= sacked_.erase_below(ack);
  if (!lost_.empty()) lost_.erase_below(ack);
  una_ = ack;
  return fresh;
}

void Scoreboard::take_for_lost(Range range) {
  range.begin = std::max(range.begin, una_);
  range.end = std::min(range.end, next_);
  for_each_hole(range, [this](Range hole) { lost_.insert(hole.begin, hole.end); });
}

void Scoreboard::mark_first_lost(std::uint64_t segment_size) {
  take_for_lost({una_, una_ + segment_size});
}

bool Scoreboard::is_consistent() const {
  std::uint64_t lost = 0;
  std::uint64_t sacked = 0;
  for (const Range& range : sacked_.ranges()) {
    if (range.begin < una_ || range.end > next_) return false;
    sacked += range.size();
  }
  for (const Range& range : lost_.ranges()) {
    if (range.begin < una_ || range.end > next_) return false;
    const std::size_t i = sacked_.first_ending_after(range.begin);
    if (i < sacked_.range_count() && sacked_.ranges()[i].begin < range.end) return false;
    lost += range.size();
  }
  return lost == lost_.total() && sacked == sacked_.total() && una_ <= next_;
}

}  // namespace satrelay::tcp
