// The receiving direction of one stream: the order of its bytes, its credit, and its end.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "pep/base/containers/reassembler.h"
#include "pep/base/recent_count.h"
#include "pep/stp/streams/credit/drain_prediction.h"

namespace satrelay::stp {

class ReceiveHalf {
 public:
  static constexpr std::uint64_t kUnknown = ~std::uint64_t{0};
  // The number of separate pieces that a stream may store after gaps: one for each 8 KiB of its
  // limit (Reassembler::has_place()). At a loss of 10%, there is one gap in 14 KB.
  static constexpr std::uint32_t kBytesAPiece = 8192;

  explicit ReceiveHalf(Arena& arena) : bytes_(arena, kBytesAPiece) {}

  // Takes a reserve of memory (BlockRing) for a new stream. Bytes within the reserve can always be
  // stored.
  [[nodiscard]] bool own() { return bytes_.own(); }
  void disown() { bytes_.disown(); }

  const Reassembler& bytes() const { return bytes_; }
  // Bytes of lane credit that the peer has used for this stream.
  std::uint64_t charged() const { return charged_; }
  std::uint64_t consumed() const { return bytes_.consumed(); }
  std::uint64_t granted() const { return granted_; }  // the highest offset that the peer may send
  // The limit in the last STREAM_CREDIT; 0 if none was sent.
  std::uint64_t told() const { return told_; }
  std::uint64_t final_size() const { return final_size_; }
  bool final_known() const { return final_size_ != kUnknown; }
  bool complete() const { return final_known() && bytes_.in_order_end() == final_size_; }
  bool drained() const { return final_known() && bytes_.consumed() == final_size_; }

  // Grants the limit that our HELLO has promised for every stream.
  void promise(std::uint64_t limit) { granted_ = limit; }
  // Grants the limit of a STREAM_CREDIT that is sent now. A limit is never lowered. Returns the
  // limit to send.
  std::uint64_t tell(std::uint64_t limit) {
    told_ = std::max(told_, limit);
    granted_ = std::max(granted_, told_);
    told_at_ = bytes_.consumed();
    return told_;
  }
  // Bytes that the reader has consumed since the last STREAM_CREDIT.
  std::uint64_t consumed_since_told() const { return bytes_.consumed() - told_at_; }
  // Whether data up to `end` contradicts earlier data or an earlier FIN. `fin` says whether the
  // data ends with a FIN.
  bool contradicts(std::uint64_t end, bool fin) const {
    return (final_known() && (end > final_size_ || (fin && end != final_size_))) ||
           (fin && end < charged_);
  }
  // Charges the peer for bytes up to `end`. Returns how many of them are new.
  std::uint64_t charge(std::uint64_t end) {
    if (end <= charged_) return 0;
    const std::uint64_t added = end - charged_;
    charged_ = end;
    return added;
  }
  void set_final_size(std::uint64_t size) { final_size_ = size; }

  struct Stored {
    std::size_t bytes = 0;   // new bytes
    bool all = false;        // every byte of the range is stored, or was already consumed
    bool scattered = false;  // the bytes were not stored, as the stream would have too many pieces
  };
  // Stores bytes. Bytes out of order are only stored if `reserve_blocks` blocks of the arena stay
  // free for bytes in order. Otherwise bytes out of order could fill the arena. Then the missing
  // bytes before them could not be stored, and no memory would ever be freed.
  [[nodiscard]] Stored store(std::uint64_t offset, ConstBytes bytes, std::size_t reserve_blocks);
  void consume(std::uint64_t count, Instant now) {
    bytes_.consume(count);
    pace().drain.on_taken(count, bytes_.readable(), now);
  }
  // Counts the bytes that the reader has recently consumed.
  RecentCount& taken() { return pace().taken; }
  // Returns the number of bytes that the peer should be allowed to send after the consumed bytes;
  // at most `limit`.
  std::uint64_t window(std::uint64_t limit, Duration ahead, Instant now) {
    return pace_ ? pace_->drain.window(limit, ahead, now) : limit;
  }
  // Frees all bytes and the reserve. The counts stay.
  void drop_memory() {
    bytes_.reset();
    bytes_.disown();
  }
  void reset();
  // Frees memory that is not needed now (Reassembler::trim()), and the measured rate of the reader
  // if no bytes are left to read.
  void trim() {
    bytes_.trim();
    if (bytes_.readable() == 0) pace_.reset();
  }

  void image(Image& image) {
    image(pace_, charged_, granted_, told_, told_at_, final_size_, bytes_);
  }

 private:
  bool holds(std::uint64_t begin, std::uint64_t end) const;
  struct Pace {
    DrainPrediction drain;
    RecentCount taken;
    void image(Image& image) { image(drain, taken); }
  };
  Pace& pace() {
    if (!pace_) [[unlikely]]
      pace_ = std::make_unique<Pace>();
    return *pace_;
  }

  std::unique_ptr<Pace> pace_;  // allocated when the reader first consumes bytes
  std::uint64_t charged_ = 0;
  std::uint64_t granted_ = 0;
  std::uint64_t told_ = 0;
  std::uint64_t told_at_ = 0;  // consumed bytes at the last STREAM_CREDIT
  std::uint64_t final_size_ = kUnknown;
  // This member is the last, so that members after a ReceiveHalf can use its tail padding.
  [[no_unique_address]] Reassembler bytes_;
};

}  // namespace satrelay::stp
