// Calculates the credit of a stream from the rate at which its reader consumes bytes. A reader that
// keeps up gets the whole limit. A slow reader leaves bytes unread for longer than new credit takes
// to have an effect, which is a round trip and a feedback interval. Such a reader gets four times
// the bytes that it consumes in that time, since rates vary. So fewer of its bytes are stored, and
// memory is left to other streams. (HpFP predicts the overflow of the receiver's buffer in the same
// way, and slows its sender before the overflow.)
#pragma once

#include <algorithm>
#include <cstdint>

#include "pep/base/image/image.h"
#include "pep/base/time.h"

namespace satrelay::stp {

class DrainPrediction {
 public:
  // If fewer bytes than this are in order, there is no backlog. Both constants exceed the largest
  // block, as some readers can consume a block only when all of it has arrived.
  static constexpr std::uint64_t kBacklog = 128 * 1024;
  static constexpr std::uint64_t kSmallestWindow = 128 * 1024;

  // The reader has consumed `count` bytes, and left `backlog` in-order bytes unread.
  void on_taken(std::uint64_t count, std::uint64_t backlog, Instant now) {
    if (backlog < kBacklog) {
      since_ = Instant::never();
    } else if (since_.is_never()) {
      since_ = now;
      taken_ = 0;
    } else {
      taken_ += count;
    }
  }
  // `ahead` is a round trip and a feedback interval.
  std::uint64_t window(std::uint64_t limit, Duration ahead, Instant now) {
    if (since_.is_never() || now - since_ < ahead || ahead <= Duration::zero()) return limit;
    if (now - since_ >= ahead * 4) {
      // A reader may change its pace, so the older half of the measured time stops counting.
      since_ = now - ahead * 2;
      taken_ /= 2;
    }
    const double shares = ahead.to_seconds() / (now - since_).to_seconds();
    const auto predicted = static_cast<std::uint64_t>(static_cast<double>(taken_) * shares * 4);
    return std::min(limit, std::max(predicted, kSmallestWindow));
  }

  void image(Image& image) { image(since_, taken_); }

 private:
  Instant since_ = Instant::never();  // when the current backlog began
  std::uint64_t taken_ = 0;           // bytes consumed since then
};

}  // namespace satrelay::stp
