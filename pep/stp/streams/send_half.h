// The sending direction of one stream: which bytes are stored, sent, acknowledged and lost. This
// class knows only offsets. pep/stp/packets decides which packets carry the bytes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "pep/base/containers/byte_queue.h"
#include "pep/base/containers/range_set.h"
#include "pep/stp/streams/lost_ranges.h"

namespace satrelay::stp {

class SendHalf {
 public:
  explicit SendHalf(Arena& arena) : queue_(arena) {}

  // Takes a reserve of memory (BlockRing) for a new stream. Bytes that fit into the reserve can
  // always be written.
  [[nodiscard]] bool own() { return queue_.own(); }
  void disown() { queue_.disown(); }
  bool has_reserve() const { return queue_.has_reserve(); }

  // --- the writer
  // Returns how many bytes write() would store now. At most `limit` bytes are stored in total. The
  // stream may use its reserve, and free blocks of the arena. But enough blocks must stay free for
  // `promised` bytes of the other direction.
  std::uint64_t room(std::uint64_t limit, std::uint64_t promised) const;
  [[nodiscard]] std::size_t write(ConstBytes bytes, std::uint64_t limit, std::uint64_t promised) {
    const std::uint64_t allowed = room(limit, promised);
    return queue_.append(bytes.size() <= allowed ? bytes
                                                 : bytes.first(static_cast<std::size_t>(allowed)));
  }
  void finish() { fin_ = Fin::kPending; }
  bool finished() const { return fin_ != Fin::kOpen; }

  // --- the scheduler
  std::uint64_t unsent() const { return queue_.end() - sent_; }
  // If the stream is reset now, this is its final size.
  std::uint64_t sent() const { return sent_; }
  std::uint64_t stored() const { return queue_.size(); }
  std::uint64_t unacknowledged() const { return queue_.size() - acknowledged_.total(); }
  // Whether the FIN must be sent without data, as all data has been sent.
  bool fin_due() const { return fin_ == Fin::kPending && unsent() == 0; }
  // Number of bytes that the stream's credit still allows to send. `start` is the limit before the
  // first STREAM_CREDIT (start_credit.h).
  std::uint64_t credit(std::uint64_t start) const {
    const std::uint64_t limit = std::max(limit_, start);
    return limit > sent_ ? limit - sent_ : 0;
  }
  void raise_limit(std::uint64_t limit) {
    if (limit > limit_) limit_ = limit;
  }
  bool has_lost() const { return !lost_.empty(); }
  LostRanges::Piece first_lost() const { return lost_.first(); }
  // Whether another copy of a sent range is still useful: no byte of the range is acknowledged. An
  // empty range means the FIN.
  bool wants_copy(std::uint64_t offset, std::uint64_t length) const;

  // Copies the bytes [offset, offset + out.size()) to `out`, and marks them as sent. Returns true
  // if the frame must have the FIN flag.
  bool take(std::uint64_t offset, MutableBytes out);

  // --- feedback
  // `fin` says whether the packet carried the FIN at the end of the range. A range that this stream
  // has not sent is ignored: it belonged to an earlier stream in the same slot
  // (SentItem::generation()). This happens if the peer leaves a packet unreported for very long.
  void on_acknowledged(std::uint64_t offset, std::uint64_t length, bool fin);
  // The range was lost for the `losses`th time. `losses` is at most LostRanges::kMaxLosses.
  void on_lost(std::uint64_t offset, std::uint64_t length, bool fin, unsigned losses);
  // Whether the peer has acknowledged all bytes and the FIN.
  bool done() const { return fin_ == Fin::kAcknowledged && queue_.empty(); }

  void reset();
  // Frees memory that is needed only while bytes are in flight.
  void trim() {
    queue_.trim();
    acknowledged_.trim();
    lost_.trim();
  }
  // Number of ranges that were moved in memory when the sets changed (RangeSet::moved()).
  std::uint64_t moved() const { return acknowledged_.moved() + lost_.moved(); }
  std::size_t blocks_held() const { return queue_.blocks_held(); }  // counts the blocks one by one

  void image(Image& image) {
    image(queue_, sent_, limit_, acknowledged_, lost_, fin_);
    if (image.reads() && !is_consistent()) image.fail();
  }
  // Whether all bytes that may have to be retransmitted are stored. Takes time in proportion to the
  // stored data.
  bool is_consistent() const;

 private:
  enum class Fin : std::uint8_t { kOpen, kPending, kSent, kAcknowledged };
  bool was_sent(std::uint64_t offset, std::uint64_t length, bool fin) const {
    return offset <= sent_ && length <= sent_ - offset &&
           (!fin || (finished() && offset + length == queue_.end()));
  }
  void forget_around(std::uint64_t begin, std::uint64_t end);

  ByteQueue queue_;
  std::uint64_t sent_ = 0;
  std::uint64_t limit_ = 0;  // highest offset that STREAM_CREDIT allows
  RangeSet acknowledged_;    // acknowledged ranges above queue_.begin()
  LostRanges lost_;          // bytes to retransmit
  Fin fin_ = Fin::kOpen;
};

}  // namespace satrelay::stp
