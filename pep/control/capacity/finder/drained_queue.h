// The queue that a drain removes. Our own queue is gone once nothing was sent for as long as the
// queue was. If it still stands then, another sender fills it.
#pragma once

#include <algorithm>

#include "pep/base/time.h"

namespace satrelay::control {

class DrainedQueue {
 public:
  // A train and the rest of our own queue are no longer than this.
  static constexpr Duration kLongestOwn = Duration::milliseconds(60);

  // A drain begins, with the queue that the newest packet has seen.
  void begin(Duration queue, Instant now) {
    began_ = now;
    longest_ = queue;
  }
  // The result is of no interest any more.
  void forget() { began_ = Instant::never(); }
  // Takes the queue that a packet sent at `sent` has seen. `train`: the time that a train takes.
  // True once, if another sender fills the queue.
  bool is_foreign(Duration queue, Instant sent, Duration train) {
    if (began_.is_never()) return false;
    if (sent < began_) {
      longest_ = std::max(longest_, queue);
      return false;
    }
    if (sent < began_ + longest_ + train) return false;
    forget();
    return queue > std::max(kLongestOwn, longest_ / 4);
  }
  // When the last drain began; never() if its result is known.
  Instant began() const { return began_; }

 private:
  Instant began_ = Instant::never();
  Duration longest_;  // that packets sent before the drain have seen
};

}  // namespace satrelay::control
