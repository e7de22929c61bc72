// Measures how long frames may have waited in a port before the worker took them.
#pragma once

#include <algorithm>
#include <cstddef>

#include "pep/base/time.h"

namespace satrelay::satrelayd {

class PollGap {
 public:
  // Call this after a rest. `rest` is the planned part of the rest, without oversleeping. Frames
  // that arrived in that time do not count as having waited, since a frame ends a long rest.
  void on_rest(Duration rest) {
    if (left_nothing_) empty_at_ = empty_at_ + rest;
  }
  // Call this when the worker, which asked for `room` frames at `asked`, has got `count` frames by
  // `now`. Returns how long the oldest of these frames may have waited at most.
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
