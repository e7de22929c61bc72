// Records when each outstanding segment was last sent, in two orders: by position, and for segments
// in flight also by time of sending. The records form a ring by position, and the order by time is
// a linked list through the same records. So every event costs O(log n), and O(1) for each segment
// that it changes. The ring grows by doubling, and allocates no memory once it fits the largest
// flight.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "pep/base/containers/range_set.h"
#include "pep/base/image/image.h"
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

  // Maximum number of outstanding segments. One ACK may acknowledge all of them, so this limits the
  // work for one ACK. It allows a window of 24 MB in segments of usual size.
  static constexpr std::size_t kMost = 1 << 14;
  // More segments than this may be outstanding only while they carry at least kLeastMean octets on
  // average. If a host accepts only tiny segments, the records must not become as large as the
  // data.
  static constexpr std::size_t kMostTiny = 1 << 12;
  static constexpr std::size_t kLeastMean = 512;

  bool empty() const { return size() == 0; }
  std::size_t room() const {
    const std::uint64_t octets = empty() ? 0 : ring_->end - at(ring_->front).begin;
    const auto most = std::clamp<std::uint64_t>(octets / kLeastMean, kMostTiny, kMost);
    return most - std::min<std::uint64_t>(most, size());
  }
  std::size_t size() const { return ring_ ? ring_->back - ring_->front : 0; }

  // Records new data, sent directly after all earlier data. If all kMost records are used, the last
  // record is extended.
  void on_sent(Range range, Instant now);
  // Records that all segments in `range` are in flight again, and were sent last. A segment counts
  // as retransmitted even if `range` covers only a part of it: the rest follows at once.
  void on_retransmitted(Range range, Instant now);

  // Visits the segments that end in `range` and were not delivered before, in order of position.
  // Segments that lie wholly in `range` count as delivered afterwards.
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
  // Afterwards no segment counts as delivered or in flight.
  void forget_deliveries();

  // How many outstanding segments count as delivered.
  std::size_t sacked() const { return ring_ ? ring_->sacked : 0; }
  // The segment in flight that was sent first. Only valid if has_in_flight().
  bool has_in_flight() const { return ring_ && ring_->in_flight > 0; }
  Segment oldest() const { return describe(ring_->oldest); }
  // Removes oldest() from the segments in flight until it is retransmitted.
  void take_oldest() { unlink(at(ring_->oldest)); }
  // Removes the segment with the lowest position from the segments in flight. Returns its range.
  Range take_first();
  // The newest segment that was sent for the first time.
  Range last() const { return describe(ring_->back - 1).range; }

  // Frees the memory if no segment is outstanding.
  void trim() {
    if (empty()) ring_.reset();
  }

  bool is_consistent() const;

  void image(Image& image) {
    image.owned(ring_, [] { return std::make_unique<Ring>(0); });
    if (!image.reads() || is_consistent()) return;
    ring_.reset();
    image.fail();
  }

 private:
  struct Record {
    std::uint64_t begin = 0;
    Instant sent_at;
    std::uint32_t older = 0;  // neighbors in order of sending, if they exist
    std::uint32_t newer = 0;
    bool in_flight = false;
    bool retransmitted = false;
    bool sacked = false;
    void image(Image& image) {
      image(begin, sent_at, older, newer, in_flight, retransmitted, sacked);
    }
  };
  struct Ring {
    explicit Ring(std::size_t room) : records(room) {}

    std::vector<Record> records;  // record `id` is at id modulo the size, a power of two
    std::uint32_t front = 0;
    std::uint32_t back = 0;
    std::uint64_t end = 0;
    std::uint32_t oldest = 0;  // segments in flight that were sent first and last, if there are any
    std::uint32_t newest = 0;
    std::size_t in_flight = 0;
    std::size_t sacked = 0;
    void image(Image& image) {
      image(records, front, back, end, oldest, newest, in_flight, sacked);
    }
  };
  // Requires that the ring exists.
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
  // The segment that contains `position`, or the first segment if none does.
  std::uint32_t find(std::uint64_t position) const;
  void link(std::uint32_t id, Instant now);
  void unlink(Record& record);
  void grow();

  std::unique_ptr<Ring> ring_;  // allocated for the first segment
};

}  // namespace satrelay::tcp
