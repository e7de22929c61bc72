// Measures how long frames may have waited in a port before the worker took them.
#pragma once

#include <algorithm>
#include <cstddef>

#include "pep/base/time.h"

namespace satrelay::satrelayd {

class PollGap {
 public:
  // The worker has rested for this long as planned; `rest` leaves out oversleeping. Frames that
  // arrived meanwhile did not wait: a frame ends a long rest.
  void on_rest(Duration rest) {
    if (left_nothing_) empty_at_ = empty_at_ + rest;
  }
  // The worker asked for `room` frames at `asked`, and had `count` of them by `now`. Returns how
  // long the oldest of them may have waited at most.
  Duration on_received(std::size_t count, std::size_t room, Instant asked, Instant now) {
    const Duration waited = std::max(Duration::zero(), now - empty_at_);
    left_nothing_ = count < room;
    if (left_nothing_) empty_at_ = asked;
    return waited;
  }

 private:
  Instant empty_at_;  // when the port was last known to be empty
  bool left_nothing_ = true;
};

}  // namespace satrelay::satrelayd
