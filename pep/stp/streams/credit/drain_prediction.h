// Calculates the credit of a stream from the rate at which its reader consumes bytes. New credit
// has an effect after a round trip and a feedback interval. If bytes are left unread for longer
// than this time, the reader is slow. A slow reader gets credit for four times the bytes that it
// consumes in this time, since its rate may vary. Any other reader gets the whole limit. So fewer
// bytes of slow readers are stored, and more memory is left for other streams. (HpFP predicts the
// overflow of the receiver's buffer in the same way.)
#pragma once

#include <algorithm>
#include <cstdint>

#include "pep/base/image/image.h"
#include "pep/base/time.h"

namespace satrelay::stp {

class DrainPrediction {
 public:
  // A reader has a backlog if at least this number of in-order bytes is unread. Some readers can
  // only consume a whole block at once, so both constants exceed the largest block.
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
      // A reader may change its rate. So forget the older half of the measured time.
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
