// How fast the link takes the bytes of a flow. A block of them is asked for when all that was
// written before has left in packets, so each block that begins tells how long the one before it
// has taken.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

#include "pep/base/recent_count.h"
#include "pep/base/time.h"

namespace satrelay::gateway {

class Departures {
 public:
  explicit Departures(Instant now) : left_(now), busy_since_(now), since_(now) {}

  // The stream asks for more: the block has left.
  void end_block(Duration period, Instant now) {
    if (!rest_waits_) busy_since_ = now;
    std::uint64_t left = std::exchange(leaving_, 0);
    if (now - since_ > period) {
      // Of one that nothing followed it is not known when it left. Else only a part of it has left
      // in a period.
      left = !rest_waits_
                 ? 0
                 : static_cast<std::uint64_t>(static_cast<double>(left) *
                                              (period.to_seconds() / (now - since_).to_seconds()));
    }
    left_.add(left, period, now);
    since_ = now;
  }
  // So many bytes of the host begin to leave as so many of the stream. `rest`: more of them wait
  // behind the block, so the link alone says when the next one begins.
  void begin_block(std::uint64_t plain, std::uint64_t encoded, bool rest) {
    // One block of zeros does not say that the next can be as large.
    const double least = static_cast<double>(encoded_) / static_cast<double>(2 * plain_);
    encoded_ = std::max(encoded, static_cast<std::uint64_t>(static_cast<double>(plain) * least));
    leaving_ = plain_ = plain;
    rest_waits_ = rest;
  }

  // Bytes of the host that have left within a period.
  std::uint64_t in_a_period(Duration period, Instant now) { return left_.in_a_period(period, now); }
  // And those that are leaving, if that has begun within the period.
  std::uint64_t lately(Duration period, Instant now) {
    return in_a_period(period, now) + (now - since_ < period ? leaving_ : 0);
  }
  // Whether bytes have waited for so long without a pause: then the link alone says how many leave.
  bool is_measured(Duration period, Instant now) const {
    return rest_waits_ && now - busy_since_ >= period;
  }
  // Whether the last block was compressed.
  bool compressed() const { return encoded_ < plain_; }
  // Bytes of the host that `encoded` bytes of the stream are, as in the last block.
  std::uint64_t plain_of(std::uint64_t encoded) const {
    return static_cast<std::uint64_t>(static_cast<double>(encoded) * static_cast<double>(plain_) /
                                      static_cast<double>(std::max<std::uint64_t>(encoded_, 1)));
  }

  std::uint64_t encoded_of(std::uint64_t plain) const {
    return static_cast<std::uint64_t>(static_cast<double>(plain) * static_cast<double>(encoded_) /
                                      static_cast<double>(plain_));
  }

 private:
  RecentCount left_;
  std::uint64_t leaving_ = 0;
  // Of the last block, in which bytes shrink no more than twice as much as in the one before.
  std::uint64_t plain_ = 1;
  std::uint64_t encoded_ = 1;
  bool rest_waits_ = false;
  Instant busy_since_;
  Instant since_;
};

}  // namespace satrelay::gateway
