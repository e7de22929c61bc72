#include "pep/tcp/sending/scoreboard.h"

#include <algorithm>

#include "pep/base/check.h"

namespace satrelay::tcp {

std::uint64_t Scoreboard::acknowledge(std::uint64_t ack) {
  SATRELAY_DCHECK(ack > una_ && ack <= next_);
  std::uint64_t fresh = ack - una_;
  if (has_sacked()) fresh -= reports_->sacked.erase_below(ack);
  if (has_lost()) reports_->lost.erase_below(ack);
  una_ = ack;
  return fresh;
}

void Scoreboard::take_for_lost(Range range) {
  range.begin = std::max(range.begin, una_);
  range.end = std::min(range.end, next_);
  for_each_hole(range, [this](Range hole) { reports().lost.insert(hole.begin, hole.end); });
}

void Scoreboard::mark_first_lost(std::uint64_t segment_size) {
  take_for_lost({una_, una_ + segment_size});
}

bool Scoreboard::is_consistent() const {
  if (!reports_) return una_ <= next_;
  const RangeSet& reported = reports_->sacked;
  std::uint64_t lost = 0;
  std::uint64_t sacked = 0;
  for (const Range& range : reported.ranges()) {
    if (range.begin < una_ || range.end > next_) return false;
    sacked += range.size();
  }
  for (const Range& range : reports_->lost.ranges()) {
    if (range.begin < una_ || range.end > next_) return false;
    const std::size_t i = reported.first_ending_after(range.begin);
    if (i < reported.range_count() && reported.ranges()[i].begin < range.end) return false;
    lost += range.size();
  }
  return lost == reports_->lost.total() && sacked == reported.total() && una_ <= next_;
}

}  // namespace satrelay::tcp
