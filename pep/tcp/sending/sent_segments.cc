#include "pep/tcp/sending/sent_segments.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "pep/base/check.h"

namespace satrelay::tcp {

void SentSegments::on_sent(Range range, Instant now) {
  SATRELAY_DCHECK(empty() || range.begin == ring_->end);
  if (size() == kMost) {
    Record& last = at(ring_->back - 1);
    if (last.sacked) --ring_->sacked;
    last.sacked = false;
    unlink(last);
  } else {
    if (!ring_ || size() == ring_->records.size()) grow();
    at(ring_->back) = Record{};
    at(ring_->back).begin = range.begin;
    ++ring_->back;
  }
  ring_->end = range.end;
  link(ring_->back - 1, now);
}

void SentSegments::on_retransmitted(Range range, Instant now) {
  if (empty()) return;
  for (std::uint32_t id = find(range.begin); id != ring_->back && at(id).begin < range.end; ++id) {
    Record& record = at(id);
    if (record.sacked) continue;
    unlink(record);
    record.retransmitted = true;
    link(id, now);
  }
}

void SentSegments::release_below(std::uint64_t position) {
  while (!empty() && end_of(ring_->front) <= position) {
    Record& record = at(ring_->front);
    if (record.sacked) --ring_->sacked;
    unlink(record);
    ++ring_->front;
  }
}

void SentSegments::forget_deliveries() {
  if (!ring_) return;
  for (std::uint32_t id = ring_->front; id != ring_->back; ++id) {
    at(id).in_flight = false;
    at(id).sacked = false;
  }
  ring_->in_flight = 0;
  ring_->sacked = 0;
}

Range SentSegments::take_first() {
  if (empty()) return {};
  unlink(at(ring_->front));
  return describe(ring_->front).range;
}

std::uint32_t SentSegments::find(std::uint64_t position) const {
  std::uint32_t low = ring_->front;
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
  if (ring_->in_flight++ == 0) {
    ring_->oldest = id;
  } else {
    at(ring_->newest).newer = id;
    record.older = ring_->newest;
  }
  ring_->newest = id;
}

void SentSegments::unlink(Record& record) {
  if (!record.in_flight) return;
  record.in_flight = false;
  if (--ring_->in_flight == 0) return;
  if (&record == &at(ring_->oldest)) {
    ring_->oldest = record.newer;
  } else if (&record == &at(ring_->newest)) {
    ring_->newest = record.older;
  } else {
    at(record.older).newer = record.newer;
    at(record.newer).older = record.older;
  }
}

void SentSegments::grow() {
  constexpr std::size_t kSmallest = 16;
  if (!ring_) {
    ring_ = std::make_unique<Ring>(kSmallest);
    return;
  }
  std::vector<Record> larger(2 * ring_->records.size());
  for (std::uint32_t id = ring_->front; id != ring_->back; ++id) {
    larger[id & (larger.size() - 1)] = at(id);
  }
  ring_->records = std::move(larger);
}

bool SentSegments::is_consistent() const {
  if (!ring_) return true;
  if (!std::has_single_bit(ring_->records.size()) || size() > ring_->records.size()) return false;
  std::size_t in_flight = 0;
  std::size_t sacked = 0;
  for (std::uint32_t id = ring_->front; id != ring_->back; ++id) {
    in_flight += at(id).in_flight ? 1 : 0;
    sacked += at(id).sacked ? 1 : 0;
    if (at(id).begin >= end_of(id)) return false;
  }
  if (in_flight != ring_->in_flight || sacked != ring_->sacked) return false;
  std::uint32_t id = ring_->oldest;
  Instant last = at(id).sent_at;
  for (std::size_t i = 0; i < ring_->in_flight; ++i, id = at(id).newer) {
    if (!at(id).in_flight || at(id).sent_at < last) return false;
    last = at(id).sent_at;
    if (i + 1 == ring_->in_flight && id != ring_->newest) return false;
  }
  return true;
}

}  // namespace satrelay::tcp
