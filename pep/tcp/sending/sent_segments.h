// When each outstanding segment was last sent, in two orders: by position, and by time of sending
// for those in flight. A ring of records by position, with the other order linked through it, so
// that every event costs O(log n) and O(1) a segment that it concerns. Grows by doubling and
// allocates nothing once it is as large as the flight has been.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "pep/base/containers/range_set.h"
#include "pep/base/time.h"

namespace satrelay::tcp {

class SentSegments {
 public:
  struct Segment {
    Range range;
    Instant sent_at;
    bool retransmitted = false;
    bool sacked = false;
  };

  // So many may be outstanding, as one acknowledgment may be of all of them: a window of 24 MB of
  // usual segments.
  static constexpr std::size_t kMost = 1 << 14;
  // Beyond so many, only while they carry kLeastMean octets on average: a host that takes tiny
  // segments must not make their records as large as what they carry.
  static constexpr std::size_t kMostTiny = 1 << 12;
  static constexpr std::size_t kLeastMean = 512;

  bool empty() const { return size() == 0; }
  std::size_t room() const {
    const std::uint64_t octets = empty() ? 0 : ring_->end - at(ring_->front).begin;
    const auto most = std::clamp<std::uint64_t>(octets / kLeastMean, kMostTiny, kMost);
    return most - std::min<std::uint64_t>(most, size());
  }
  std::size_t size() const { return ring_ ? ring_->back - ring_->front : 0; }

  // New data, directly behind all before. Without room the last record takes it in.
  void on_sent(Range range, Instant now);
  // All segments that `range` touches are in flight again, and the latest sent. A segment of which
  // a part is sent again counts as a whole: its rest follows at once, or smaller.
  void on_retransmitted(Range range, Instant now);

  // Visits the segments whose last byte lies in `range` and that were not delivered before, in
  // order of position. Those that lie in it whole count as delivered from then on.
  template <typename Visitor>
  void deliver(Range range, Visitor&& visit) {
    if (empty() || range.begin >= ring_->end) return;
    const std::uint32_t back = ring_->back;
    for (std::uint32_t id = find(range.begin); id != back && end_of(id) <= range.end; ++id) {
      Record& record = at(id);
      if (record.sacked) continue;
      visit(describe(id));
      if (record.begin < range.begin) continue;
      record.sacked = true;
      ++ring_->sacked;
      unlink(record);
    }
  }
  void release_below(std::uint64_t position);
  // Nothing counts as delivered or in flight any more.
  void forget_deliveries();

  // How many outstanding segments are delivered.
  std::size_t sacked() const { return ring_ ? ring_->sacked : 0; }
  // Of those in flight, the one sent longest ago.
  bool has_in_flight() const { return ring_ && ring_->in_flight > 0; }
  Segment oldest() const { return describe(ring_->oldest); }
  // Takes it out of those in flight, until it is retransmitted.
  void take_oldest() { unlink(at(ring_->oldest)); }
  // The segment with the lowest position, taken out of those in flight if it is.
  Range take_first();
  // The last one sent for the first time.
  Range last() const { return describe(ring_->back - 1).range; }

  // Gives back the memory of a flight that is over.
  void trim() {
    if (empty()) ring_.reset();
  }

  bool is_consistent() const;

 private:
  struct Record {
    std::uint64_t begin = 0;
    Instant sent_at;
    std::uint32_t older = 0;  // neighbours in time, where they exist
    std::uint32_t newer = 0;
    bool in_flight = false;
    bool retransmitted = false;
    bool sacked = false;
  };
  struct Ring {
    explicit Ring(std::size_t room) : records(room) {}

    std::vector<Record> records;  // by id, which count on; a power of two
    std::uint32_t front = 0;
    std::uint32_t back = 0;
    std::uint64_t end = 0;
    std::uint32_t oldest = 0;  // by time, if any is in flight
    std::uint32_t newest = 0;
    std::size_t in_flight = 0;
    std::size_t sacked = 0;
  };
  // There is a ring.
  Record& at(std::uint32_t id) { return ring_->records[id & (ring_->records.size() - 1)]; }
  const Record& at(std::uint32_t id) const {
    return ring_->records[id & (ring_->records.size() - 1)];
  }
  std::uint64_t end_of(std::uint32_t id) const {
    return id + 1 == ring_->back ? ring_->end : at(id + 1).begin;
  }
  Segment describe(std::uint32_t id) const {
    const Record& record = at(id);
    return {{record.begin, end_of(id)}, record.sent_at, record.retransmitted, record.sacked};
  }
  // The segment that holds `position`, or the first one.
  std::uint32_t find(std::uint64_t position) const;
  void link(std::uint32_t id, Instant now);
  void unlink(Record& record);
  void grow();

  std::unique_ptr<Ring> ring_;  // from the first segment on
};

}  // namespace satrelay::tcp
