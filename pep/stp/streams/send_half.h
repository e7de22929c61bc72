// The sending direction of one stream: what is stored, sent, acknowledged and lost. Offsets only;
// what packets carry of it is the affair of pep/stp/packets.
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

  // As BlockRing's: a reserve that can always be written to, of a stream that begins.
  [[nodiscard]] bool own() { return queue_.own(); }
  void disown() { queue_.disown(); }
  bool has_reserve() const { return queue_.has_reserve(); }

  // --- the writer
  // What write() takes, exactly: up to `limit` stored bytes, and no more than there is room for: in
  // its reserve, and in what the arena has when `promised` bytes are kept for the other direction.
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
  std::uint64_t sent() const { return sent_; }  // the direction's final size, if it ended now
  std::uint64_t stored() const { return queue_.size(); }
  std::uint64_t unacknowledged() const { return queue_.size() - acknowledged_.total(); }
  // The FIN must travel, and there is no new byte it could travel with.
  bool fin_due() const { return fin_ == Fin::kPending && unsent() == 0; }
  // `start`: what may be sent of any stream (start_credit.h).
  std::uint64_t credit(std::uint64_t start) const {
    const std::uint64_t limit = std::max(limit_, start);
    return limit > sent_ ? limit - sent_ : 0;
  }
  void raise_limit(std::uint64_t limit) {
    if (limit > limit_) limit_ = limit;
  }
  bool has_lost() const { return !lost_.empty(); }
  LostRanges::Piece first_lost() const { return lost_.first(); }
  // Whether no byte of a range that was sent, or not the FIN at its end, is known to have arrived.
  bool wants_copy(std::uint64_t offset, std::uint64_t length) const;

  // Copies [offset, offset + out.size()) and marks it as sent; true if the FIN goes with it.
  bool take(std::uint64_t offset, MutableBytes out);

  // --- feedback; `fin` tells whether the packet carried the FIN at the end of the range. What this
  // stream has not sent was another's, who had its slot long ago (SentItem::generation()): a peer
  // that leaves a packet unreported for as long as it likes can bring that about. It is ignored.
  void on_acknowledged(std::uint64_t offset, std::uint64_t length, bool fin);
  // For the `losses`th time, counted up to LostRanges::kMaxLosses.
  void on_lost(std::uint64_t offset, std::uint64_t length, bool fin, unsigned losses);
  // Everything and the FIN were acknowledged.
  bool done() const { return fin_ == Fin::kAcknowledged && queue_.empty(); }

  void reset();
  // Gives back what it needs only while bytes are under way.
  void trim() {
    queue_.trim();
    acknowledged_.trim();
    lost_.trim();
  }
  // What edits of the sets have cost (RangeSet).
  std::uint64_t moved() const { return acknowledged_.moved() + lost_.moved(); }
  std::size_t blocks_held() const { return queue_.blocks_held(); }  // counted

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
  LostRanges lost_;          // to be sent again
  Fin fin_ = Fin::kOpen;
};

}  // namespace satrelay::stp
