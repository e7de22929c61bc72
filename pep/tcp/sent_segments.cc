#include "pep/tcp/sent_segments.h"

#include <algorithm>

#include "pep/base/check.h"

namespace satrelay::tcp {

void SentSegments::on_sent(Range range, Instant now) {
  SATRELAY_DCHECK(empty() || range.begin == end_);
  if (size() == kMost) {
    Record& last = at(back_ - 1);
    if (last.sacked) --sacked_;
    last.sacked = false;
    unlink(last);
  } else {
    if (size() == ring_.size()) grow();
    at(back_) = Record{};
    at(back_).begin = range.begin;
    ++back_;
  }
  end_ = range.end;
  link(back_ - 1, now);
}

void SentSegments::on_retransmitted(Range range, Instant now) {
  if (empty()) return;
  for (std::uint32_t id = find(range.begin); id != back_ && at(id).begin < range.end; ++id) {
    Record& record = at(id);
    if (record.sacked) continue;
    unlink(record);
    record.retransmitted = true;
    link(id, now);
  }
}

void SentSegments::release_below(std::uint64_t position) {
  while (!empty() && end_of(front_) <= position) {
    Record& record = at(front_);
    if (record.sacked) --sacked_;
    unlink(record);
    ++front_;
  }
}

void SentSegments::forget_deliveries() {
  for (std::uint32_t id = front_; id != back_; ++id) {
    at(id).in_flight = false;
    at(id).sacked = false;
  }
  in_flight_ = 0;
  sacked_ = 0;
}

Range SentSegments::take_first() {
  if (empty()) return {};
  unlink(at(front_));
  return describe(front_).range;
}

std::uint32_t SentSegments::find(std::uint64_t position) const {
  std::uint32_t low = front_;
  std::size_t count = size();
  while (count > 1) {
    const std::size_t half = count / 2;
    const auto middle = static_cast<std::uint32_t>(low + half);
    if (at(middle).begin <= position) low = middle;
    count -= at(middle).begin <= position ? half : count - half;
  }
  return low;
}

void SentSegments::link(std::uint32_t id, Instant now) {
  Record& record = at(id);
  record.sent_at = now;
  record.in_flight = true;
  if (in_flight_++ == 0) {
    oldest_ = id;
  } else {
    at(newest_).newer = id;
    record.older = newest_;
  }
  newest_ = id;
}

void SentSegments::unlink(Record& record) {
  if (!record.in_flight) return;
  record.in_flight = false;
  if (--in_flight_ == 0) return;
  if (&record == &at(oldest_)) {
    oldest_ = record.newer;
  } else if (&record == &at(newest_)) {
    newest_ = record.older;
  } else {
    at(record.older).newer = record.newer;
    at(record.newer).older = record.older;
  }
}

void SentSegments::grow() {
  constexpr std::size_t kSmallest = 16;
  std::vector<Record> larger(std::max(kSmallest, 2 * ring_.size()));
  for (std::uint32_t id = front_; id != back_; ++id) larger[id & (larger.size() - 1)] = at(id);
  ring_ = std::move(larger);
}

bool SentSegments::is_consistent() const {
  std::size_t in_flight = 0;
  std::size_t sacked = 0;
  for (std::uint32_t id = front_; id != back_; ++id) {
    in_flight += at(id).in_flight ? 1 : 0;
    sacked += at(id).sacked ? 1 : 0;
    if (at(id).begin >= end_of(id)) return false;
  }
  if (in_flight != in_flight_ || sacked != sacked_) return false;
  Instant last;
  std::uint32_t id = oldest_;
  for (std::size_t i = 0; i < in_flight_; ++i, id = at(id).newer) {
    if (!at(id).in_flight || at(id).sent_at < last) return false;
    last = at(id).sent_at;
    if (i + 1 == in_flight_ && id != newest_) return false;
  }
  return true;
}

}  // namespace satrelay::tcp
