// Detects another sender by the queue that remains after a drain (mode Draining). Once the drain
// has lasted as long as the queue, our own packets have left the queue. If there is still a queue,
// another sender fills it.
#pragma once

#include <algorithm>

#include "pep/base/time.h"

namespace satrelay::control {

class DrainedQueue {
 public:
  // Maximum length of a queue of only our own packets: the packets of a train, and the packets that
  // a drain has not removed yet.
  static constexpr Duration kLongestOwn = Duration::milliseconds(60);

  // Call when a drain begins. `queue` is the time that the newest packet has waited in the queue.
  void begin(Duration queue, Instant now) {
    began_ = now;
    longest_ = queue;
  }
  // Ends the test without a result.
  void forget() { began_ = Instant::never(); }
  // `queue` is the time that a packet sent at `sent` has waited in the queue. `train` is the time
  // that a train takes. Returns true once if another sender fills the queue.
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
  // When the last drain began; never() if no result is pending.
  Instant began() const { return began_; }

 private:
  Instant began_ = Instant::never();
  // The longest wait of packets sent before the drain.
  Duration longest_;
};

}  // namespace satrelay::control
