// Measures how fast the link sends the bytes of a flow. The stream asks for a block when all bytes
// that were written before were sent in packets. So the beginning of each block shows how long the
// block before it took.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

#include "pep/base/image/image.h"
#include "pep/base/recent_count.h"
#include "pep/base/time.h"

namespace satrelay::gateway {

class Departures {
 public:
  explicit Departures(Instant now) : left_(now), busy_since_(now), since_(now) {}

  // Call this when the stream asks for more bytes, as the last block was sent.
  void end_block(Duration period, Instant now) {
    if (!rest_waits_) busy_since_ = now;
    std::uint64_t left = std::exchange(leaving_, 0);
    if (now - since_ > period) {
      // The last block began more than a period ago. If bytes waited behind it, its sending took
      // all this time, so only a part of the block was sent within one period. Otherwise the block
      // may have been sent long ago, and is not counted.
      left = !rest_waits_
                 ? 0
                 : static_cast<std::uint64_t>(static_cast<double>(left) *
                                              (period.to_seconds() / (now - since_).to_seconds()));
    }
    left_.add(left, period, now);
    since_ = now;
  }
  // Call this when the sending of a block begins. The block has `plain` bytes of the host, in
  // `encoded` bytes of the stream. `rest` says whether more bytes wait behind the block. If so,
  // only the link determines when the next block begins.
  void begin_block(std::uint64_t plain, std::uint64_t encoded, bool rest) {
    // A single block of zeros does not mean that the next block shrinks as much.
    const double least = static_cast<double>(encoded_) / static_cast<double>(2 * plain_);
    encoded_ = std::max(encoded, static_cast<std::uint64_t>(static_cast<double>(plain) * least));
    leaving_ = plain_ = plain;
    rest_waits_ = rest;
  }

  // How many bytes of the host were sent per period of this length.
  std::uint64_t in_a_period(Duration period, Instant now) { return left_.in_a_period(period, now); }
  // The same, plus the block that is being sent now, if its sending began within the period.
  std::uint64_t lately(Duration period, Instant now) {
    return in_a_period(period, now) + (now - since_ < period ? leaving_ : 0);
  }
  // Whether bytes have waited for this long without a pause, so that only the link determined how
  // many bytes were sent.
  bool is_measured(Duration period, Instant now) const {
    return rest_waits_ && now - busy_since_ >= period;
  }
  // Whether the last block was compressed.
  bool compressed() const { return encoded_ < plain_; }
  // How many plain bytes of the host correspond to `encoded` bytes of the stream, at the
  // compression ratio of the last block.
  std::uint64_t plain_of(std::uint64_t encoded) const {
    return static_cast<std::uint64_t>(static_cast<double>(encoded) * static_cast<double>(plain_) /
                                      static_cast<double>(std::max<std::uint64_t>(encoded_, 1)));
  }

  std::uint64_t encoded_of(std::uint64_t plain) const {
    return static_cast<std::uint64_t>(static_cast<double>(plain) * static_cast<double>(encoded_) /
                                      static_cast<double>(plain_));
  }

  void image(Image& image) {
    image(left_, leaving_, plain_, encoded_, rest_waits_, busy_since_, since_);
  }

 private:
  RecentCount left_;
  std::uint64_t leaving_ = 0;
  // The sizes of the last block. If the block shrank more than twice as much as the previous block,
  // `encoded_` is set as if it had shrunk exactly twice as much.
  std::uint64_t plain_ = 1;
  std::uint64_t encoded_ = 1;
  bool rest_waits_ = false;
  Instant busy_since_;
  Instant since_;
};

}  // namespace satrelay::gateway
