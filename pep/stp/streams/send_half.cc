#include "pep/stp/streams/send_half.h"

#include <algorithm>

namespace satrelay::stp {

std::uint64_t SendHalf::room(std::uint64_t limit, std::uint64_t promised) const {
  if (finished() || queue_.size() >= limit) return 0;
  const std::uint64_t block = queue_.arena().block_size();
  const std::uint64_t free = queue_.arena().free_blocks();
  const std::uint64_t kept = (promised + block - 1) / block;
  return std::min(limit - queue_.size(), queue_.room(free > kept ? free - kept : 0));
}

bool SendHalf::take(std::uint64_t offset, MutableBytes out) {
  if (!out.empty()) queue_.copy_out(offset, out);
  const std::uint64_t end = offset + out.size();
  sent_ = std::max(sent_, end);
  lost_.erase(offset, end);
  const bool carries_fin = end == queue_.end() && (fin_ == Fin::kPending || fin_ == Fin::kSent);
  if (carries_fin) fin_ = Fin::kSent;
  return carries_fin;
}

bool SendHalf::wants_copy(std::uint64_t offset, std::uint64_t length) const {
  if (length == 0) return fin_ == Fin::kSent && offset == queue_.end();
  if (offset < queue_.begin() || offset + length > queue_.end()) return false;
  const std::size_t next = acknowledged_.first_ending_after(offset);
  return next == acknowledged_.range_count() ||
         acknowledged_.ranges()[next].begin >= offset + length;
}

void SendHalf::on_acknowledged(std::uint64_t offset, std::uint64_t length, bool fin) {
  if (!was_sent(offset, length, fin)) return;
  if (fin) fin_ = Fin::kAcknowledged;
  const std::uint64_t end = offset + length;
  if (end <= queue_.begin() || length == 0) return;
  lost_.erase(offset, end);
  if (offset > queue_.begin()) {
    acknowledged_.insert(offset, end);
    forget_around(offset, end);
    return;
  }
  std::uint64_t release = end;
  while (!acknowledged_.empty() && acknowledged_.ranges().front().begin <= release) {
    release = std::max(release, acknowledged_.ranges().front().end);
    acknowledged_.erase_below(release);
  }
  queue_.release_below(release);
}

// Frees the memory of bytes that have arrived, even if earlier bytes are lost. Otherwise a loss of
// 10% would require memory for three round trips at the whole rate. Only blocks with bytes of the
// newly acknowledged range [begin, end) can have become free.
void SendHalf::forget_around(std::uint64_t begin, std::uint64_t end) {
  const Range whole = acknowledged_.ranges()[acknowledged_.first_ending_after(begin)];
  const std::uint64_t block = queue_.arena().block_size();
  queue_.forget({std::max(whole.begin, begin - begin % block),
                 std::min(whole.end, end + (block - end % block) % block)});
}

void SendHalf::on_lost(std::uint64_t offset, std::uint64_t length, bool fin, unsigned losses) {
  if (!was_sent(offset, length, fin)) return;
  if (fin && fin_ == Fin::kSent) fin_ = Fin::kPending;
  const std::uint64_t end = offset + length;
  const std::uint64_t begin = std::max(offset, queue_.begin());
  if (begin >= end) return;
  lost_.insert(begin, end, losses);
  if (acknowledged_.empty()) return;
  const auto ranges = acknowledged_.ranges();
  for (std::size_t i = acknowledged_.first_ending_after(begin);
       i < ranges.size() && ranges[i].begin < end; ++i) {
    lost_.erase(ranges[i].begin, ranges[i].end);
  }
}

bool SendHalf::is_consistent() const {
  std::uint64_t at = queue_.begin();
  if (at > sent_ || sent_ > queue_.end()) return false;
  for (const Range& arrived : acknowledged_.ranges()) {
    if (arrived.begin <= at || arrived.end > sent_) return false;
    if (!queue_.covers({at, arrived.begin})) return false;
    at = arrived.end;
  }
  return queue_.covers({at, queue_.end()}) && lost_.lie_in({queue_.begin(), sent_}, acknowledged_);
}

void SendHalf::reset() {
  queue_.reset();
  sent_ = limit_ = 0;
  acknowledged_.clear();
  lost_.clear();
  fin_ = Fin::kOpen;
}

}  // namespace satrelay::stp
