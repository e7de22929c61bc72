#include "pep/tcp/scoreboard.h"

#include <algorithm>

#include "pep/base/check.h"

namespace satrelay::tcp {
namespace {

constexpr std::uint64_t kDuplicateThreshold = 3;
// Beyond this many retransmissions in flight the oldest are left to the timer.
constexpr std::size_t kMostRetransmissions = 1 << 16;

}  // namespace

std::uint64_t Scoreboard::highest_sacked() const {
  return sacked_.empty() ? una_ : sacked_.ranges().back().end;
}

void Scoreboard::on_retransmitted(Range range) {
  lost_.erase(range.begin, range.end);
  if (!selective_) return;
  if (retransmissions_.size() - retransmissions_head_ >= kMostRetransmissions) {
    ++retransmissions_head_;
  }
  if (retransmissions_.size() == retransmissions_.capacity() &&
      retransmissions_head_ >= retransmissions_.size() / 2) {
    retransmissions_.erase(
        retransmissions_.begin(),
        retransmissions_.begin() + static_cast<std::ptrdiff_t>(retransmissions_head_));
    retransmissions_head_ = 0;
  }
  retransmissions_.push_back({range, next_});
}

std::uint64_t Scoreboard::acknowledge(std::uint64_t ack) {
  SATRELAY_DCHECK(ack > una_ && ack <= next_);
  std::uint64_t fresh = ack - una_;
  if (!sacked_.empty()) fresh -= sacked_.erase_below(ack);
  if (!lost_.empty()) lost_.erase_below(ack);
  una_ = ack;
  judged_ = std::max(judged_, ack);
  if (una_ == next_) forget_retransmissions();
  return fresh;
}

std::uint64_t Scoreboard::sack(Range block) {
  block.begin = std::max(block.begin, una_);
  if (block.begin >= block.end || block.end > next_) return 0;
  const std::uint64_t fresh = sacked_.insert(block.begin, block.end);
  if (fresh > 0 && !lost_.empty()) lost_.erase(block.begin, block.end);
  return fresh;
}

void Scoreboard::detect_losses(std::uint64_t segment_size) {
  // RFC 6675 IsLost(S): DupThresh discontiguous blocks, or more than (DupThresh - 1) segments of
  // bytes, reported above S. What is lost therefore lies below one bound.
  const auto ranges = sacked_.ranges();
  std::uint64_t bytes = 0;
  std::uint64_t bound = una_;
  for (std::size_t i = ranges.size(), count = 1; i > 0; --i, ++count) {
    bytes += ranges[i - 1].size();
    if (count >= kDuplicateThreshold || bytes > (kDuplicateThreshold - 1) * segment_size) {
      bound = ranges[i - 1].begin;
      break;
    }
  }
  if (bound > judged_) {
    insert_holes({judged_, bound});
    judged_ = bound;
  }
  if (retransmissions_head_ < retransmissions_.size()) detect_lost_retransmissions(segment_size);
}

void Scoreboard::detect_lost_retransmissions(std::uint64_t segment_size) {
  const std::uint64_t highest = highest_sacked();
  while (retransmissions_head_ < retransmissions_.size()) {
    const Retransmission& oldest = retransmissions_[retransmissions_head_];
    const bool settled = oldest.range.end <= una_;
    if (!settled && highest <= oldest.next + (kDuplicateThreshold - 1) * segment_size) break;
    if (!settled) insert_holes({std::max(oldest.range.begin, una_), oldest.range.end});
    ++retransmissions_head_;
  }
  if (retransmissions_head_ == retransmissions_.size()) forget_retransmissions();
}

void Scoreboard::mark_first_lost(std::uint64_t segment_size) {
  const std::uint64_t end = std::min(una_ + segment_size, next_);
  const std::uint64_t limit = sacked_.empty() ? end : sacked_.ranges().front().begin;
  if (una_ < std::min(end, limit)) lost_.insert(una_, std::min(end, limit));
  judged_ = std::max(judged_, std::min(end, limit));
}

void Scoreboard::mark_all_lost() {
  const bool reneged = !sacked_.empty() && sacked_.ranges().front().begin <= una_;
  if (reneged) sacked_.clear();
  duplicate_credit_ = 0;
  forget_retransmissions();
  lost_.clear();
  insert_holes({una_, next_});
  judged_ = next_;
}

std::optional<Range> Scoreboard::first_hole(std::uint64_t from) const {
  from = std::max({from, una_, judged_});
  const std::uint64_t highest = highest_sacked();
  const auto ranges = sacked_.ranges();
  std::size_t i = sacked_.first_ending_after(from);
  if (i < ranges.size() && ranges[i].begin <= from) from = ranges[i++].end;
  if (from >= highest || i >= ranges.size()) return std::nullopt;
  return Range{from, ranges[i].begin};
}

void Scoreboard::take_for_lost(Range range) {
  insert_holes(range);
  judged_ = std::max(judged_, range.end);
}

void Scoreboard::insert_holes(Range range) {
  std::uint64_t at = range.begin;
  const auto ranges = sacked_.ranges();
  for (std::size_t i = sacked_.first_ending_after(at); i < ranges.size() && at < range.end; ++i) {
    const std::uint64_t hole_end = std::min(ranges[i].begin, range.end);
    if (at < hole_end) lost_.insert(at, hole_end);
    at = ranges[i].end;
  }
  if (at < range.end) lost_.insert(at, range.end);
}

void Scoreboard::forget_retransmissions() {
  retransmissions_.clear();
  retransmissions_head_ = 0;
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
