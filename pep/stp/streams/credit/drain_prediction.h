// How much credit a stream deserves, from how fast its reader takes the bytes. (HpFP predicts the
// overflow of the receiver's buffer in the same way, and slows its sender before that happens.) A
// reader that keeps up gets the whole limit. A slow reader leaves bytes for longer than credit
// granted now takes to have an effect: a round trip and a feedback interval. It gets four times the
// bytes that it takes in that time, since rates vary. So its store shrinks, and leaves memory to
// others.
#pragma once

#include <algorithm>
#include <cstdint>

#include "pep/base/image/image.h"
#include "pep/base/time.h"

namespace satrelay::stp {

class DrainPrediction {
 public:
  // If fewer bytes than this lie in order, there is no backlog. Both limits exceed the largest
  // block that a reader may have to see whole before it can take any of it.
  static constexpr std::uint64_t kBacklog = 128 * 1024;
  static constexpr std::uint64_t kSmallestWindow = 128 * 1024;

  // The reader took `count` bytes and left `backlog` in order.
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
  // `ahead`: a round trip and a feedback interval.
  std::uint64_t window(std::uint64_t limit, Duration ahead, Instant now) {
    if (since_.is_never() || now - since_ < ahead || ahead <= Duration::zero()) return limit;
    if (now - since_ >= ahead * 4) {
      // A reader may change its pace, so the older half of what is known stops counting.
      since_ = now - ahead * 2;
      taken_ /= 2;
    }
    const double shares = ahead.to_seconds() / (now - since_).to_seconds();
    const auto predicted = static_cast<std::uint64_t>(static_cast<double>(taken_) * shares * 4);
    return std::min(limit, std::max(predicted, kSmallestWindow));
  }

  void image(Image& image) { image(since_, taken_); }

 private:
  Instant since_ = Instant::never();  // since then there has been a backlog
  std::uint64_t taken_ = 0;           // bytes taken since then
};

}  // namespace satrelay::stp
