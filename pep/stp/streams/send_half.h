// The sending direction of one stream: what is stored, sent, acknowledged and lost. It knows
// offsets only. pep/stp/packets decides which packets carry the bytes.
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

  // Takes a reserve that can always be written to (BlockRing), for a stream that begins.
  [[nodiscard]] bool own() { return queue_.own(); }
  void disown() { queue_.disown(); }
  bool has_reserve() const { return queue_.has_reserve(); }

  // --- the writer
  // Exactly what write() takes: up to `limit` stored bytes, and no more than there is room for.
  // There is room in the reserve, and in the arena as far as `promised` bytes are kept for the
  // other direction.
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
  std::uint64_t sent() const { return sent_; }  // also the direction's final size, if it ended now
  std::uint64_t stored() const { return queue_.size(); }
  std::uint64_t unacknowledged() const { return queue_.size() - acknowledged_.total(); }
  // The FIN must leave, and no new byte can carry it.
  bool fin_due() const { return fin_ == Fin::kPending && unsent() == 0; }
  // `start`: the limit of streams without a STREAM_CREDIT (start_credit.h).
  std::uint64_t credit(std::uint64_t start) const {
    const std::uint64_t limit = std::max(limit_, start);
    return limit > sent_ ? limit - sent_ : 0;
  }
  void raise_limit(std::uint64_t limit) {
    if (limit > limit_) limit_ = limit;
  }
  bool has_lost() const { return !lost_.empty(); }
  LostRanges::Piece first_lost() const { return lost_.first(); }
  // Whether no byte of a range that was sent is known to have arrived. For an empty range: whether
  // the FIN is not known to have arrived.
  bool wants_copy(std::uint64_t offset, std::uint64_t length) const;

  // Copies [offset, offset + out.size()) and marks it as sent. True if the FIN leaves with it.
  bool take(std::uint64_t offset, MutableBytes out);

  // --- feedback. `fin`: whether the packet carried the FIN at the end of the range. A range that
  // this stream has not sent belonged to an earlier stream in the same slot
  // (SentItem::generation()). A peer that leaves a packet unreported for very long can cause that.
  // Such a range is ignored.
  void on_acknowledged(std::uint64_t offset, std::uint64_t length, bool fin);
  // The range was lost for the `losses`th time, counted up to LostRanges::kMaxLosses.
  void on_lost(std::uint64_t offset, std::uint64_t length, bool fin, unsigned losses);
  // All bytes and the FIN were acknowledged.
  bool done() const { return fin_ == Fin::kAcknowledged && queue_.empty(); }

  void reset();
  // Frees memory that is needed only while bytes are in flight.
  void trim() {
    queue_.trim();
    acknowledged_.trim();
    lost_.trim();
  }
  // The cost of the edits of the sets (RangeSet).
  std::uint64_t moved() const { return acknowledged_.moved() + lost_.moved(); }
  std::size_t blocks_held() const { return queue_.blocks_held(); }  // counted anew

  void image(Image& image) { image(queue_, sent_, limit_, acknowledged_, lost_, fin_); }

 private:
  enum class Fin : std::uint8_t { kOpen, kPending, kSent, kAcknowledged };
  bool was_sent(std::uint64_t offset, std::uint64_t length, bool fin) const {
    return offset <= sent_ && length <= sent_ - offset &&
           (!fin || (finished() && offset + length == queue_.end()));
  }
  void forget_around(std::uint64_t begin, std::uint64_t end);

  ByteQueue queue_;
  std::uint64_t sent_ = 0;
  std::uint64_t limit_ = 0;  // absolute credit from the peer
  RangeSet acknowledged_;    // above queue_.begin()
  LostRanges lost_;          // bytes to send again
  Fin fin_ = Fin::kOpen;
};

}  // namespace satrelay::stp
